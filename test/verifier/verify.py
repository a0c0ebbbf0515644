# SPDX-License-Identifier: Apache-2.0
"""A second verifier of proof bundles, written apart from the first: python3 verify.py BUNDLE TRUST [SINCE].

Prints {"valid", "codes", "entries", "payloads"} and exits with 0 or 1.
"""
import hashlib
import hmac
import json
import re
import struct
import sys
import zlib
from bisect import bisect_right
from datetime import datetime
from math import inf

from jcs import NotJson, canonical, parse
from notes import EMPTY, Tree, Trust, consistent, included, parse_checkpoint, parse_key, parse_note, signed, subtrees

LISTED = ["VERIFY.md", "checkpoint.note", "checkpoints.jsonl", "records.jsonl", "payloads.jsonl", "policy_sets.jsonl",
          "authority.jsonl", "leaves.bin", "nodes.bin"]
HEX = re.compile("[0-9a-f]{64}")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z", re.ASCII)
NAME = re.compile(r"[A-Za-z_]+\.[a-z]+")
MOST = {"directory": 2**16, "text": 2**20, "line": 2**25, "hashes": 2**26}
DAY = 86400000
KEPT = 184 * DAY
ENVELOPE = {"v", "type", "org_id", "received_at", "data", "after"}
LEAF = ENVELOPE | {"subject_id"}
STEP = ENVELOPE | {"agent_id", "task_id", "seq", "step", "step_type", "timestamp", "is_external_call",
                   "has_write_permission", "api_key_id", "policy_set", "evaluation", "prev_hash"}
OTHERS = {"incident", "event", "erasure", "prune", "key", "report"}


class Broken(Exception):
    """Nothing further can be said of the bundle."""


def sha(data):
    return hashlib.sha256(data).hexdigest()


def is_hash(value):
    return isinstance(value, str) and HEX.fullmatch(value) is not None


def millis(value):
    """Milliseconds up to a time that is written in the one way; None for any other value."""
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
    """Whether the name is the log's own or that of an earlier incarnation of it."""
    own, other = (re.fullmatch(r"(.+)/([1-9][0-9]{0,14})", one) for one in (origin, name))
    return bool(own and other and other[1] == own[1] and int(other[2]) <= int(own[2]))


def is_count(value, least=0):
    return type(value) is int and least <= value < 2**53


def is_whole(value):
    return is_count(value, 1 - 2**53)


def is_hashes(values):
    return isinstance(values, list) and all(map(is_hash, values))


def is_manifest(value):
    """Whether a manifest can be relied on; raises KeyError or TypeError for some that cannot."""
    period, entries, records = value["period"], value["entries"], value["records"]
    checkpoint, keys, files = value["checkpoint"], value["keys"], value["files"]
    return (
        value["v"] == "svc.bundle/1"
        and all(is_text(value[name]) for name in ("origin", "org_id", "made_at"))
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


def is_places(value, end):
    """Whether it is the first and last of places before the end."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_count, value)) and value[0] <= value[1] < end


def uncovered(gone, removals):
    """Whether a (place, time) is gone that no removal (places, before) covers; one of what was later covers nothing."""
    places = [place for place, _ in gone]

    def is_late(first, last, before):
        at = bisect_right(places, last) - 1
        return at >= 0 and places[at] >= first and gone[at][1] >= before

    sound = [ranges for ranges, before in removals if not any(is_late(*one, before) for one in ranges)]
    given = sorted(one for ranges in sound for one in ranges)
    at, reach = 0, -1
    for place in places:
        while at < len(given) and given[at][0] <= place:
            reach = max(reach, given[at][1])
            at += 1
        if place > reach:
            return True
    return False


class Zip:
    """The one way in which a bundle is written as a zip."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = data = file.read()
        if len(data) < 22 or data[-22:-18] != b"PK\x05\x06":
            raise Broken("not_a_bundle")
        length, start = struct.unpack("<II", data[-10:-2])
        if start + length + 22 != len(data) or length + 22 > MOST["directory"]:
            raise Broken("not_a_bundle")
        self.names, self.files, position, directory = [], {}, 0, b""
        for method, sizes, name in self.listed(start, start + length):
            about = struct.pack("<HHHHHIIIHH", 20, 0x800, 8 if method == 8 else 0, 0, 0x21, *sizes, len(name), 0)
            header = b"PK\x03\x04" + about + name
            if data[position : position + len(header)] != header:
                raise Broken("bytes_altered")
            begin = position + len(header)
            self.names.append(name.decode())
            self.files.setdefault(name.decode(), (method == 8, data[begin : begin + sizes[1]], sizes[0], sizes[2]))
            directory += b"PK\x01\x02" + struct.pack("<H", 0x0314) + about + struct.pack(
                "<HHHII", 0, 0, 0, 0o100644 << 16, position) + name
            position = begin + sizes[1]
        end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(self.names), len(self.names), length, start, 0)
        if data[start:] != directory + end or position != start:
            raise Broken("bytes_altered")

    def listed(self, at, end):
        """(method, (crc, packed, bytes), name) of all that the directory lists."""
        found = []
        while at + 46 <= end:
            method, = struct.unpack_from("<H", self.data, at + 10)
            sizes = struct.unpack_from("<III", self.data, at + 16)
            count, = struct.unpack_from("<H", self.data, at + 28)
            name = self.data[at + 46 : at + 46 + count]
            if not NAME.fullmatch(name.decode("latin1")):
                raise Broken("not_a_bundle")
            found.append((method, sizes, name))
            at += 46 + count
        if at != end or not found:
            raise Broken("not_a_bundle")
        return found

    def packed(self, name):
        return self.files[name][1]

    def sizes(self, name):
        """Bytes of the content, and as they stand in the zip."""
        return self.files[name][3], len(self.files[name][1])

    def content(self, name):
        if name not in self.files:
            raise Broken("not_a_bundle")
        deflated, content, crc, size = self.files[name]
        if deflated:
            stream = zlib.decompressobj(-15)
            try:
                content = stream.decompress(content, size + 1)
            except zlib.error:
                raise Broken("bytes_altered") from None
            if not stream.eof or stream.unused_data or stream.unconsumed_tail:
                raise Broken("bytes_altered")
        if len(content) != size or zlib.crc32(content) != crc:
            raise Broken("bytes_altered")
        return content

    def whole(self, name, most):
        content = self.content(name)
        if len(content) > most:
            raise Broken("not_a_bundle")
        return content

    def lines(self, name):
        *lines, rest = self.content(name).split(b"\n")
        for line in lines:
            if len(line) > MOST["line"]:
                raise Broken("not_a_bundle")
            yield line.decode()
        if rest:
            raise Broken("not_a_bundle")


class Bundle:
    def __init__(self, path, trust, since):
        self.codes, self.entries = [], {}
        self.payloads = {"present": 0, "erased": 0, "pruned": 0}
        try:
            self.zip = Zip(path)
            self.read_manifest(trust)
            self.read_checkpoints(trust, since)
            self.walk()
        except Broken as error:
            self.codes.append(str(error))
        except Exception:  # Whatever a hostile file brings about.
            self.codes.append("not_a_bundle")

    def read_manifest(self, trust):
        # No hash covers these: nothing may hide in them.
        signing = [self.zip.files[name] for name in ("manifest.json", "manifest.note") if name in self.zip.files]
        if any(deflated for deflated, _, _, _ in signing):
            raise Broken("bytes_altered")
        text = self.zip.whole("manifest.json", MOST["text"]).decode()
        self.manifest = manifest = parse(text)
        if not is_manifest(manifest):
            raise Broken("not_a_bundle")
        self.origin = manifest["origin"]
        note = parse_note(self.zip.whole("manifest.note", MOST["text"]).decode())
        if note is None or note[0] != "svc.bundle/1\n%s\nsha256 %s\n" % (self.origin, sha(text.encode())):
            raise Broken("manifest_altered")
        if not trust.log_signed(note, self.origin):
            raise Broken("untrusted")
        keys = {key for key in map(parse_key, manifest["keys"]) if key}
        if len({data[:4] for _, data in note[1]}) < len(note[1]):
            raise Broken("bytes_altered")
        for one in note[1]:
            if all(signed((note[0], [one]), key) is None for key in keys):
                raise Broken("bytes_altered")
        if self.zip.names != LISTED + ["manifest.json", "manifest.note"]:
            raise Broken("bytes_altered")
        for listed in manifest["files"]:
            name = listed["name"]
            if (listed["bytes"], listed["packed"]) != self.zip.sizes(name):
                raise Broken("bytes_altered")
            if sha(self.zip.packed(name)) != listed["packed_sha256"] or sha(self.zip.content(name)) != listed["sha256"]:
                raise Broken("bytes_altered")
        self.size, self.root = manifest["checkpoint"]["size"], bytes.fromhex(manifest["checkpoint"]["root"])
        self.first, self.end = manifest["records"]["first"], manifest["records"]["end"]
        self.begin, self.stop = manifest["entries"]["first"], manifest["entries"]["end"]

    def read_checkpoints(self, trust, since):
        note = parse_note(self.zip.whole("checkpoint.note", MOST["text"]).decode())
        if note is None or parse_checkpoint(note[0]) != (self.origin, self.size, self.root):
            raise Broken("checkpoint_invalid")
        if not trust.log_signed(note, self.origin):
            raise Broken("untrusted")
        if not trust.met(note):
            self.codes.append("quorum_missing")
        self.roots = {0: {EMPTY}}
        for line in self.zip.lines("checkpoints.jsonl"):
            listed = self.written(line)
            if not (is_whole(listed["size"]) and is_hash(listed["root"]) and is_hashes(listed.get("proof", []))):
                raise Broken("not_a_bundle")
            size, root = listed["size"], bytes.fromhex(listed["root"])
            note = parse_note(listed["note"])
            says = note and parse_checkpoint(note[0])
            if not says or says[1:] != (size, root):
                self.codes.append("checkpoint_invalid")
            elif not is_past_of(self.origin, says[0]):
                self.codes.append("other_log")
            elif any(key.name == says[0] for key in trust.logs) and not trust.log_signed(note, says[0]):
                self.codes.append("checkpoint_unsigned")
            elif "proof" in listed or not self.first < size <= self.end:
                proof = [bytes.fromhex(one) for one in listed.get("proof", [])]
                if consistent(size, self.size, proof, root, self.root):
                    self.roots.setdefault(size, set()).add(root)
                else:
                    self.codes.append("fork")
            else:
                self.roots.setdefault(size, set()).add(root)
        if since is not None:
            self.check_since(parse_note(since), trust)

    def check_since(self, note, trust):
        says = note and parse_checkpoint(note[0])
        if not says or not trust.log_signed(note, says[0]):
            self.codes.append("since_untrusted")
        elif says[0] != self.origin:
            self.codes.append("since_other_log")
        elif says[1] > self.size:
            self.codes.append("log_shrank")
        else:
            # Every log has grown out of an empty one, which shows nothing of this one.
            known = {self.root} if says[1] == self.size else self.roots.get(says[1]) if says[1] else None
            if known is None:
                self.codes.append("since_unproven")
            elif says[2] not in known:
                self.codes.append("fork")

    def read_removals(self):
        self.removals = {}
        for line in self.zip.lines("authority.jsonl"):
            said = self.written(line)
            texts = all(isinstance(said[name], str) for name in ("record", "salts", "body"))
            if not (texts and is_whole(said["log_index"]) and is_hashes(said["proof"])):
                raise Broken("not_a_bundle")
            leaf = hashlib.sha256(b"\0" + said["record"].encode()).digest()
            proof = [bytes.fromhex(one) for one in said["proof"]]
            if not included(leaf, said["log_index"], self.size, proof, self.root):
                self.codes.append("not_in_log")
                continue
            record = self.record(said["record"])
            values = record and self.opened('{"salts":' + said["salts"] + ',"values":' + said["body"] + "}", record)
            if not values or not self.removal(record, values, said["log_index"]):
                self.codes.append("record_invalid")

    @staticmethod
    def written(line):
        """The value of a line that is written in the one way."""
        value = parse(line)
        if canonical(value) != line:
            raise Broken("not_a_bundle")
        return value

    def removal(self, record, values, place):
        """Takes note of an entry that says what was removed, once; whether it says so."""
        kind = record["type"]
        said = values.get(kind) if kind in ("erasure", "prune") else None
        if not isinstance(said, dict):
            return False
        done = "erased" if kind == "erasure" else "pruned"
        if not all(isinstance(said.get(name), str) for name in ("id", done + "_by", done + "_at", "legal_basis")):
            return False
        places, before = said.get("entries"), inf if kind == "erasure" else millis(said.get("before"))
        if not isinstance(places, list) or not all(is_places(one, place) for one in places):
            return False
        if kind == "prune" and (before is None or before > millis(record["received_at"]) - KEPT):
            return False
        self.removals[place] = (kind, places, before)
        return True

    def record(self, text):
        """The record, when it is one and written in the one way; else None."""
        try:
            record = parse(text)
            if not isinstance(record, dict) or canonical(record) != text or record.get("v") != "svc.log/1":
                return None
        except NotJson:
            return None
        kind = record.get("type")
        wanted = STEP if kind == "step" else LEAF if isinstance(kind, str) and kind in OTHERS else None
        if wanted is None or set(record) - {"client_prev_hash"} != wanted:
            return None
        if kind != "step" and "client_prev_hash" in record:
            return None
        texts = ["org_id", "agent_id", "task_id", "step_type", "timestamp", "api_key_id", "subject_id",
                 "client_prev_hash"]
        after, data = record["after"], record["data"]
        sound = (
            all(isinstance(record[name], str) for name in texts if name in record)
            and is_time(record["received_at"])
            and isinstance(data, dict) and all(map(is_hash, data.values()))
            and isinstance(after, dict) and set(after) == {"root", "size"}
            and is_hash(after["root"]) and is_count(after["size"])
        )
        if sound and kind == "step":
            flags = [record["is_external_call"], record["has_write_permission"]]
            sound = (is_count(record["seq"], 1) and is_count(record["step"], 1)
                     and all(isinstance(one, bool) for one in flags)
                     and is_hash(record["policy_set"]) and is_hash(record["evaluation"])
                     and (record["prev_hash"] == "" or is_hash(record["prev_hash"])))
        return record if sound else None

    def opened(self, text, record):
        """The values of a payload, None for one that is gone, False for one that is not what was committed to."""
        try:
            payload = parse(text)
        except NotJson:
            return False
        if canonical(payload) != text:
            return False
        if payload is None:
            return None
        if not isinstance(payload, dict) or set(payload) != {"salts", "values"}:
            return False
        salts, values = payload["salts"], payload["values"]
        committed = dict(record["data"], **({"evaluation": record["evaluation"]} if record["type"] == "step" else {}))
        if not isinstance(salts, dict) or not isinstance(values, dict):
            return False
        if not set(committed) == set(salts) == set(values) or not all(map(is_hash, salts.values())):
            return False
        for field, commitment in committed.items():
            message = "svc.payload/1\0%s\0%s" % (field, canonical(values[field]))
            if hmac.new(bytes.fromhex(salts[field]), message.encode(), hashlib.sha256).hexdigest() != commitment:
                return False
        return values

    def walk(self):
        leaves, nodes = (self.zip.whole(name, MOST["hashes"]) for name in ("leaves.bin", "nodes.bin"))
        left, right = subtrees(0, self.first), subtrees(self.end, self.size)
        if (len(leaves), len(nodes)) != (32 * (self.end - self.first), 32 * len(left + right)):
            raise Broken("not_a_bundle")
        hashes = [nodes[at : at + 32] for at in range(0, len(nodes), 32)]
        self.policy_sets = {sha(line.encode()) for line in self.zip.lines("policy_sets.jsonl")}
        self.read_removals()
        records, payloads = self.zip.lines("records.jsonl"), self.zip.lines("payloads.jsonl")
        self.tasks, self.erased, self.pruned, self.used, self.gap = {}, [], [], set(), False
        self.last, self.last_after, self.before, self.after = "", 0, None, None
        tree = Tree()
        for (level, _), value in zip(left, hashes):
            tree.add(level, value)
        for index in range(self.first, self.end):
            at = 32 * (index - self.first)
            leaf = leaves[at : at + 32]
            tree.add(0, leaf)
            if any(root != tree.root() for root in self.roots.get(tree.size, ())):
                self.codes.append("fork")
            inside = self.begin <= index < self.stop
            self.leaf(index, leaf, next(records), next(payloads) if inside else None)
        if [*records, *payloads]:
            raise Broken("not_a_bundle")
        for (level, _), value in zip(right, hashes[len(left) :]):
            tree.add(level, value)
        if tree.root() != self.root:
            self.codes.append("root_mismatch")
        self.finish()

    def leaf(self, index, leaf, line, payload):
        if line == "null":
            self.gap = True
            if payload is not None:
                self.pruned.append((index, millis(self.last) if self.last else -inf))
            if payload not in (None, "null"):
                self.codes.append("payload_mismatch")
            return
        if hashlib.sha256(b"\0" + line.encode()).digest() != leaf:
            self.codes.append("record_mismatch")
            return
        record = self.record(line)
        if record is None:
            self.codes.append("record_invalid")
            return
        self.place(index, record)
        if record["type"] == "step":
            self.step(record, leaf.hex(), payload is not None)
        if payload is None:
            return
        self.entries[record["type"]] = self.entries.get(record["type"], 0) + 1
        values = self.opened(payload, record)
        if values is False:
            self.codes.append("payload_mismatch")
        elif values is None:
            self.erased.append((index, -inf))
        else:
            self.payloads["present"] += 1
            self.removal(record, values, index)

    def place(self, index, record):
        received, after, period = record["received_at"], record["after"], self.manifest["period"]
        if record["org_id"] != self.manifest["org_id"]:
            self.codes.append("other_log")
        if received < self.last:
            self.codes.append("out_of_order")
        self.last = received
        if index < self.begin:
            self.before = received
        elif index >= self.stop:
            self.after = received
        elif (period["from"] or "") > received or (period["to"] or "~") <= received:
            self.codes.append("outside_period")
        known = self.roots.get(after["size"], ())
        if bytes.fromhex(after["root"]) not in known or not self.last_after <= after["size"] <= index:
            self.codes.append("after_mismatch")
        self.last_after = max(self.last_after, after["size"])

    def step(self, record, leaf, inside):
        known = self.tasks.get(record["task_id"])
        if known is None:
            begins = record["seq"] == 1
            broken = begins != (record["prev_hash"] == "") or not begins and self.first == 0 and not self.gap
        else:
            broken = (record["seq"], record["prev_hash"], record["agent_id"]) != (known[0] + 1, known[1], known[2])
        if broken:
            self.codes.append("link_broken")
        else:
            self.tasks[record["task_id"]] = (record["seq"], leaf, record["agent_id"])
        if inside:
            self.used.add(record["policy_set"])
            if record["policy_set"] not in self.policy_sets:
                self.codes.append("policy_set_missing")

    def finish(self):
        period = self.manifest["period"]
        for kind, gone, code in (("erasure", self.erased, "payload_lost"), ("prune", self.pruned, "record_lost")):
            if uncovered(gone, [said[1:] for said in self.removals.values() if said[0] == kind]):
                self.codes.append(code)
        if self.policy_sets - self.used:
            self.codes.append("policy_set_unused")
        self.payloads.update(erased=len(self.erased), pruned=len(self.pruned))
        early = self.before is not None and period["from"] is not None and self.before < period["from"]
        place = self.begin - 1
        begun = millis(period["from"])
        cut = self.before is None and self.first == place and begun is not None and any(
            kind == "prune" and before <= begun and any(first <= place <= last for first, last in taken)
            for kind, taken, before in self.removals.values())
        late = self.after is not None and period["to"] is not None and self.after >= period["to"]
        if not (self.begin == 0 or early or cut) or not (self.stop == self.size or late):
            self.codes.append("incomplete")


def main(path, trust, since=None):
    def text(name):
        try:
            with open(name, "rb") as file:
                return file.read().decode(errors="replace")
        except OSError as error:
            raise SystemExit(str(error)) from None

    try:
        trusted = Trust(text(trust))
    except (IndexError, ValueError):
        raise SystemExit("the trust policy has a line that is none") from None
    bundle = Bundle(path, trusted, text(since) if since else None)
    print(json.dumps({"valid": not bundle.codes, "codes": sorted(set(bundle.codes)), "entries": bundle.entries,
                      "payloads": bundle.payloads}))
    return 1 if bundle.codes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)
