# SPDX-License-Identifier: Apache-2.0
"""Checks on the parts of a proof bundle."""
import hashlib
import re
from bisect import bisect_right
from datetime import datetime

LISTED = ["VERIFY.md", "checkpoint.note", "checkpoints.jsonl", "records.jsonl", "payloads.jsonl", "policy_sets.jsonl",
          "authority.jsonl", "report.jsonl", "leaves.bin", "nodes.bin"]
HEX = re.compile("[0-9a-f]{64}")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z", re.ASCII)
DAY = 86400000


class Broken(Exception):
    """A fault that makes the rest of a bundle impossible to verify."""


def sha(data):
    return hashlib.sha256(data).hexdigest()


def is_hash(value):
    return isinstance(value, str) and HEX.fullmatch(value) is not None


def millis(value):
    """Milliseconds of a time in canonical form; None for any other value."""
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return None
    year, month, day, hour, minute, second, rest = map(int, found.groups())
    try:
        days = datetime(year % 400 + 400, month, day, hour, minute, second).toordinal() + year // 400 * 146097
    except ValueError:
        return None
    return days * DAY + ((hour * 60 + minute) * 60 + second) * 1000 + rest


def is_time(value):
    return millis(value) is not None


def is_text(value):
    return isinstance(value, str) and value != ""


def is_past_of(origin, name):
    """Whether the name is that of the log or of one of its earlier epochs."""
    own, other = (re.fullmatch(r"(.+)/([1-9][0-9]{0,14})", one) for one in (origin, name))
    return bool(own and other and other[1] == own[1] and int(other[2]) <= int(own[2]))


def is_count(value, minimum=0):
    return type(value) is int and minimum <= value < 2**53


def is_integer(value):
    return is_count(value, 1 - 2**53)


def is_hashes(values):
    return isinstance(values, list) and all(map(is_hash, values))


def is_manifest(value):
    """Whether a manifest is valid; raises KeyError or TypeError for some invalid ones."""
    period, entries, records = value["period"], value["entries"], value["records"]
    checkpoint, keys, files = value["checkpoint"], value["keys"], value["files"]
    return (
        value["v"] == "svc.bundle/1"
        and all(is_text(value[name]) for name in ("origin", "org_id", "made_at"))
        and is_text(value.get("workspace", "none"))
        and all(period[name] is None or is_time(period[name]) for name in ("from", "to"))
        and (period["from"] is None or period["to"] is None or period["from"] <= period["to"])
        and all(is_count(part[name]) for part in (entries, records) for name in ("first", "end"))
        and is_count(checkpoint["size"]) and is_hash(checkpoint["root"])
        and isinstance(keys, list) and all(map(is_text, keys))
        and isinstance(files, list) and [one["name"] for one in files] == LISTED
        and all(is_count(one[name]) for one in files for name in ("bytes", "packed"))
        and all(is_hash(one[name]) for one in files for name in ("sha256", "packed_sha256"))
        and entries["first"] <= entries["end"] and records["end"] <= checkpoint["size"]
        and entries["first"] - records["first"] in (0, 1) and records["end"] - entries["end"] in (0, 1)
    )


def is_span(value, end):
    """Whether the value is the first and last of consecutive log indexes below the end."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_count, value)) and value[0] <= value[1] < end


def uncovered(missing, authorizations):
    """Whether no authorization (spans, before) covers one of the missing (log_index, time).

    An authorization that names an entry received at its `before` or later covers nothing.
    """
    indexes = [log_index for log_index, _ in missing]

    def is_late(first, last, before):
        at = bisect_right(indexes, last) - 1
        return at >= 0 and indexes[at] >= first and missing[at][1] >= before

    valid = [spans for spans, before in authorizations if not any(is_late(*span, before) for span in spans)]
    given = sorted(span for spans in valid for span in spans)
    at, reach = 0, -1
    for log_index in indexes:
        while at < len(given) and given[at][0] <= log_index:
            reach = max(reach, given[at][1])
            at += 1
        if log_index > reach:
            return True
    return False
