# SPDX-License-Identifier: Apache-2.0
"""Restarts of a log after a restore, and what became of the entries that were signed for before."""
import re

from checks import is_count, is_hash


def read_restart(record, values, place):
    """What an entry says of a restart; None when it says no such thing."""
    event = values.get("event") if record["type"] == "event" else None
    if not isinstance(event, dict) or event.get("kind") != "log.restarted":
        return None
    data, actor = event.get("data"), event.get("actor")
    if not isinstance(data, dict) or not isinstance(actor, dict):
        return None
    texts = [data.get("origin"), data.get("old_origin"), data.get("reason"), event.get("at"), actor.get("kind"),
             actor.get("id")]
    size, root, kept = data.get("old_size"), data.get("old_root", 0), data.get("kept_size")
    if not all(isinstance(text, str) for text in texts) or not is_count(size):
        return None
    if not (size == 0 if root is None else is_hash(root)) or not (kept is None or is_count(kept)):
        return None
    return {"place": place, "origin": texts[0], "old": texts[1], "size": size,
            "root": None if root is None else bytes.fromhex(root),
            "accepted": data.get("accepted_changed_entries") is True}


def epoch(origin):
    found = re.fullmatch(r"(.+)/([1-9][0-9]{0,14})", origin)
    return (found[1], int(found[2])) if found else None


def judge(restart, origin, signed, root_at):
    """(codes, entries that are gone, what is left of the others)."""
    codes = []
    own, new, old = epoch(origin), epoch(restart["origin"]), epoch(restart["old"])
    if not (own and new and old and own[0] == new[0] == old[0] and old[1] < new[1] <= own[1]):
        codes.append("restart_mismatch")
    for name, size, root in signed:
        is_other = size == restart["size"] and size > 0 and root != restart["root"]
        if name == restart["old"] and (size > restart["size"] or is_other):
            codes.append("restart_mismatch")
    gone = max(0, restart["size"] - restart["place"])
    roots = root_at(restart["size"]) if gone == 0 and restart["size"] > 0 else {restart["root"]}
    is_other = bool(roots) and restart["root"] not in roots
    if is_other and not restart["accepted"]:
        codes.append("entries_changed")
    if restart["accepted"] or is_other:
        return codes, gone, "changed"
    return codes, gone, "not_shown" if gone > 0 or not roots or None in roots else "unchanged"
