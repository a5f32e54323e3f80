"""Orders of a person that wait for memory: each is a private file until it is obeyed or refused.

A hook leaves an order here before it opens the shelf, which may be busy or slow, and takes it away
once it is done. What is left is taken in by the next hook or command. A credential never gets here.
Purging erases these files (`filesystem/hook_files.drop_diaries`).
"""

import json
import os
from contextlib import suppress

from nuggets.filesystem.atomic_files import open_plain
from nuggets.filesystem.hook_files import (
    ORDER_PREFIX,
    append,
    hook_path,
    waiting_order_paths,
)
from nuggets.interfaces.hooks.orders import Order
from nuggets.named_tuple import NamedTuple

MOST_WAITING = 200  # more are left by a loop, not by a person


class WaitingOrder(NamedTuple):
    order: Order
    folder: str  # where it was given; "" for where the shelf is at work
    path: str  # of the file; "" for an order that does not wait


def leave_orders(directory: str, orders: list[Order], folder: str) -> list[WaitingOrder]:
    """The orders, each with its file. One that is refused, or holds a credential, gets none."""
    from time import time_ns

    waiting = [_refuse_credential(order) for order in orders]
    left = []
    for order in waiting:
        path = ""
        if not order.refusal:
            # the time first: orders are taken in as they were given
            name = f"{ORDER_PREFIX}{time_ns():020d}-{os.urandom(4).hex()}"
            path = hook_path(directory, name)
            append(path, json.dumps([order.kind, order.text, folder]) + "\n")
        left.append(WaitingOrder(order, folder, path))
    return left


def _refuse_credential(order: Order) -> Order:
    from nuggets.domain.credentials import credential_kinds

    kinds = [] if order.refusal or order.kind == "forget" else credential_kinds(order.text)
    if not kinds:
        return order
    return order._replace(text="", refusal=f"this looks like a credential ({kinds[0]})")


def waiting_orders(directory: str, here: str = "") -> list[WaitingOrder]:
    """The orders that wait, oldest first; `here`: the folder that the shelf is at work in."""
    found = map(_read, waiting_order_paths(directory)[:MOST_WAITING])
    return [one._replace(folder=one.folder if one.folder != here else "") for one in found if one]


def _read(path: str) -> WaitingOrder | None:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_plain) as file:
            kind, text, folder = json.loads(file.read())
        return WaitingOrder(Order(str(kind), str(text)), str(folder), path)
    except (OSError, ValueError, TypeError, RecursionError):  # gone, or still being written
        return None


def settle(waiting: WaitingOrder) -> None:
    """Take the order away: it is obeyed or refused."""
    if waiting.path:
        with suppress(OSError):
            os.unlink(waiting.path)
