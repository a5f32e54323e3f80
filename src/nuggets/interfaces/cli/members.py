"""Commands on the members of a team's shelf: add, list, revoke."""

from argparse import ArgumentParser

from nuggets.domain import codec
from nuggets.domain.roles import ROLES, parse_role
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.terminal_output import format_minute, one_line, style, table


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="small letters, digits, - and _")
    parser.add_argument(
        "--role",
        default="writer",
        help=f"what they may do: {', '.join(ROLES)} (default: writer)",
    )
    parser.add_argument(
        "--again", action="store_true", help="a new token for someone who is or was a member"
    )


def _add(call: Call) -> Outcome:
    options = call.options
    role = parse_role(options.role)
    token = call.shelf.add_member(options.name, role, again=options.again)
    shape = {"name": options.name, "role": role, "token": token}
    return Outcome(
        shape,
        [
            f"{options.name} is a member ({role}). Their token, which is not shown again:",
            style(token, "bold"),
            "A server of this shelf that was started before its first member needs a restart.",
        ],
    )


def _list(call: Call) -> Outcome:
    members = call.shelf.members()
    shape = [codec.to_json(member) for member in members]
    if not members:
        return Outcome(shape, ["There are no members: `nuggets member add NAME` makes one."])
    rows = [
        (
            member.name,
            member.role,
            format_minute(member.since),
            format_minute(member.revoked_at) if member.revoked_at else "",
        )
        for member in members
    ]
    return Outcome(shape, table(("NAME", "ROLE", "SINCE", "REVOKED"), rows))


def _revoke_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="whose token ends")


def _revoke(call: Call) -> Outcome:
    name = call.options.name
    call.shelf.revoke_member(name)
    return Outcome({"revoked": name}, [f"The token of {one_line(name)} is revoked."])


COMMANDS = {
    "member add": Command(
        ("nuggets member add alice", "nuggets member add bob --role reader"),
        _add,
        _add_arguments,
        changes=True,
    ),
    "member list": Command(("nuggets member list",), _list),
    "member revoke": Command(
        ("nuggets member revoke alice",), _revoke, _revoke_arguments, changes=True
    ),
}
