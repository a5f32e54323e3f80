"""The way to a server that is not on this machine: TLS through a proxy."""

from pathlib import Path
from urllib.parse import urlsplit

from command_line import run_process
from tls_proxy import make_certificate, proxied
from web_serving import served


def test_a_client_works_through_a_proxy_whose_certificate_it_can_check(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "localhost")
    with served(str(tmp_path / "shelf"), "--require-token", "--public-name", "localhost") as server:
        port = urlsplit(server.url).port
        assert port is not None
        token = (tmp_path / "shelf" / "token").read_text().strip()
        with proxied(port, certificate, key) as (tls_port, received):
            url = f"https://localhost:{tls_port}"
            env = {"NUGGETS_DIR": url, "NUGGETS_TOKEN": token}
            trusting = {**env, "SSL_CERT_FILE": str(certificate)}
            refused = run_process("remember", "project", "port", "1", env=env)
            sent_to_stranger = b"".join(received)
            written = run_process("remember", "project", "port", "8080", env=trusting)
            recalled = run_process("recall", "port", env=trusting)
            other_name = {**trusting, "NUGGETS_DIR": f"https://127.0.0.1:{tls_port}"}
            wrong_name = run_process("recall", "port", env=other_name)

    assert refused.code == 1
    assert "the certificate of localhost is not valid here" in refused.err
    assert sent_to_stranger == b""
    assert written.code == 0, written.err
    assert "Value: 8080" in recalled.out
    assert wrong_name.code == 1
    assert "the certificate of 127.0.0.1 is not valid here" in wrong_name.err
    assert token not in refused.err + wrong_name.err
