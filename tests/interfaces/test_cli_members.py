from command_line import Nuggets


def test_the_command_shows_a_token_once(nuggets: Nuggets) -> None:
    added = nuggets("member", "add", "alice", "--role", "owner", "--json").json
    assert added["name"] == "alice" and added["token"].startswith("alice.")
    listed = nuggets("member", "list")
    assert "alice" in listed.out and "owner" in listed.out
    assert added["token"].partition(".")[2] not in listed.out
    assert nuggets("member", "revoke", "alice").code == 0
    assert nuggets("member", "list", "--json").json[0]["revokedAt"]
    assert "member add" in nuggets("history").out


def test_an_unknown_role_is_a_usage_error(nuggets: Nuggets) -> None:
    refused = nuggets("member", "add", "alice", "--role", "admin")
    assert refused.code == 2 and "reader, writer, owner" in refused.err
