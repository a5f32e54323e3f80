// The page of a team before anybody is known: asks for a member's token and has it kept as a cookie.
const form = document.createElement("form");
form.innerHTML = `<label>Token <input type="password" autocomplete="current-password" required></label> <button>Sign in</button> <p role="alert"></p>`;
document.body.append(form);
const [field, message] = [form.querySelector("input"), form.querySelector("p")];
field.focus();

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const headers = { Authorization: `Bearer ${field.value.trim()}`, "Content-Type": "application/json" };
  try {
    const answer = await fetch("/api/session", { method: "POST", headers, body: "{}" });
    if (answer.ok) return location.reload();
    message.textContent = answer.status === 401 ? "This token is not valid, or was revoked." : (await answer.json()).error.message;
  } catch {
    message.textContent = "The server does not answer, or the token has a character that none has.";
  }
});
