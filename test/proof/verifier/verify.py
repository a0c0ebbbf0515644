# SPDX-License-Identifier: Apache-2.0
"""A second verifier of proof bundles, independent of the first: python3 verify.py BUNDLE TRUST [SINCE].

Prints {"valid", "codes", "entries", "payloads", "restarts", "container"} and exits with 0 or 1.
"""
import hashlib
import json
import sys
from math import inf

from checks import (LISTED, Broken, is_hash, is_hashes, is_manifest, is_past_of, is_integer, millis, sha,
                    uncovered)
from jcs import canonical, parse
from notes import EMPTY, Tree, Trust, consistent, included, parse_checkpoint, parse_key, parse_note, signed, subtrees
from records import has_facts, is_report, open_payload, read_record, read_authorization
from restarts import read_restart, verify_restart
from zipped import MAX, Zip


class Bundle:
    def __init__(self, path, trust, since):
        self.codes, self.entries, self.restarts, self.restart_views = [], {}, {}, []
        self.container = None
        self.payloads = {"present": 0, "erased": 0, "pruned": 0}
        try:
            self.zip = Zip(path)
            self.read_manifest(trust)
            self.read_checkpoints(trust, since)
            self.walk()
            self.check_restarts()
        except Broken as error:
            self.codes.append(str(error))
        except Exception:  # Any error that a hostile file causes.
            self.codes.append("not_a_bundle")

    def read_manifest(self, trust):
        text = self.zip.whole("manifest.json", MAX["text"]).decode()
        self.manifest = manifest = parse(text)
        if not is_manifest(manifest):
            raise Broken("not_a_bundle")
        self.origin = manifest["origin"]
        note = parse_note(self.zip.whole("manifest.note", MAX["text"]).decode())
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
        signing = ["manifest.json", "manifest.note"]
        if sorted(self.zip.names) != sorted(LISTED + signing):
            raise Broken("bytes_altered")
        is_issued = (self.zip.is_issued and self.zip.names == LISTED + signing
                     and all(map(self.zip.is_stored, signing)))
        for listed in manifest["files"]:
            name = listed["name"]
            size, packed = self.zip.sizes(name)
            if listed["bytes"] != size or sha(self.zip.content(name)) != listed["sha256"]:
                raise Broken("bytes_altered")
            is_issued &= (packed, sha(self.zip.packed(name))) == (listed["packed"], listed["packed_sha256"])
        self.container = "issued" if is_issued else "repacked"
        self.size, self.root = manifest["checkpoint"]["size"], bytes.fromhex(manifest["checkpoint"]["root"])
        self.first, self.end = manifest["records"]["first"], manifest["records"]["end"]
        self.begin, self.stop = manifest["entries"]["first"], manifest["entries"]["end"]

    def read_checkpoints(self, trust, since):
        note = parse_note(self.zip.whole("checkpoint.note", MAX["text"]).decode())
        if note is None or parse_checkpoint(note[0]) != (self.origin, self.size, self.root):
            raise Broken("checkpoint_invalid")
        if not trust.log_signed(note, self.origin):
            raise Broken("untrusted")
        if not trust.met(note):
            self.codes.append("quorum_missing")
        self.roots, self.signed, self.since = {0: {EMPTY}}, [], None
        for line in self.zip.lines("checkpoints.jsonl"):
            listed = self.written(line)
            if not (is_integer(listed["size"]) and is_hash(listed["root"]) and is_hashes(listed.get("proof", []))):
                raise Broken("not_a_bundle")
            size, root = listed["size"], bytes.fromhex(listed["root"])
            note = parse_note(listed["note"])
            noted = note and parse_checkpoint(note[0])
            if not noted or noted[1:] != (size, root):
                self.codes.append("checkpoint_invalid")
            elif not is_past_of(self.origin, noted[0]):
                self.codes.append("other_log")
            elif trust.names(noted[0]) and not trust.signed_before(note, noted[0]):
                self.codes.append("checkpoint_unsigned")
            else:
                proof = [bytes.fromhex(one) for one in listed.get("proof", [])]
                is_here = "proof" not in listed and self.first < size <= self.end
                if is_here or consistent(size, self.size, proof, root, self.root):
                    self.roots.setdefault(size, set()).add(root)
                    if trust.names(noted[0]):
                        self.signed.append(noted)
                else:
                    self.codes.append("fork")
        if since is not None:
            note = parse_note(since)
            self.since = note and parse_checkpoint(note[0])
            if not self.since or not trust.signed_before(note, self.since[0]):
                self.codes.append("since_untrusted")
                self.since = None

    def root_at(self, size):
        """Roots of the log at a size; empty where the bundle does not show them."""
        if size in self.seen:
            return {self.seen[size]}
        return {self.root} if size == self.size else self.roots.get(size, set())

    def check_restarts(self):
        signed = self.signed + ([self.since] if self.since else [])
        for log_index in sorted(self.restarts):
            codes, gone, left = verify_restart(self.restarts[log_index], self.origin, signed, self.root_at)
            self.codes += codes
            self.restart_views.append([log_index, gone, left])
        if not self.since:
            return
        name, size, root = self.since
        restart = next((self.restarts[one] for one in sorted(self.restarts) if self.restarts[one]["old"] == name), None)
        if name != self.origin and (restart is None or not is_past_of(self.origin, name)):
            self.codes.append("since_other_log")
        elif name != self.origin and size > restart["log_index"]:
            self.codes.append("entries_gone")
        elif size > self.size:
            self.codes.append("log_shrank")
        else:
            # Every log begins with the empty one, so that size 0 proves nothing.
            known = self.root_at(size) if size else set()
            if not known:
                self.codes.append("since_unproven")
            elif root not in known:
                self.codes.append("fork")

    def read_authorizations(self):
        self.authorizations, wanted = {}, self.read_by_report()
        for line in self.zip.lines("authority.jsonl"):
            listed = self.written(line)
            is_erased = listed["salts"] is None and listed["body"] is None
            texts = all(isinstance(listed[name], str) for name in ["record"] + ["salts", "body"] * (not is_erased))
            is_read = listed["log_index"] in wanted
            wanted.discard(listed["log_index"])
            if not (texts and is_integer(listed["log_index"]) and is_hashes(listed["proof"])):
                raise Broken("not_a_bundle")
            leaf = hashlib.sha256(b"\0" + listed["record"].encode()).digest()
            proof = [bytes.fromhex(one) for one in listed["proof"]]
            if not included(leaf, listed["log_index"], self.size, proof, self.root):
                self.codes.append("not_in_log")
                continue
            record = read_record(listed["record"])
            payload = None if is_erased else '{"salts":' + listed["salts"] + ',"values":' + listed["body"] + "}"
            values = record and payload and open_payload(payload, record)
            is_known = values and self.take(record, values, listed["log_index"])
            if not is_known and not (is_read and record and (is_erased or values)):
                self.codes.append("record_invalid")
        self.codes += ["report_incomplete"] * len(wanted)

    def read_by_report(self):
        """The log indexes of the entries outside of the period that the report reads."""
        outside = set()
        for line in self.zip.lines("report.jsonl"):
            reading = self.written(line)
            if not (sorted(reading) == ["claims", "kind", "leaves"] and isinstance(reading["kind"], str)
                    and isinstance(reading["claims"], dict) and isinstance(reading["leaves"], list)
                    and all(is_integer(one) and one >= 0 for one in reading["leaves"])):
                raise Broken("not_a_bundle")
            outside.update(one for one in reading["leaves"] if not self.begin <= one < self.stop)
        return outside

    @staticmethod
    def written(line):
        """The value of a canonical line."""
        value = parse(line)
        if canonical(value) != line:
            raise Broken("not_a_bundle")
        return value

    def take(self, record, values, log_index):
        """Stores a removal authorization or a restart; False for an entry that no other entry needs."""
        authorization = read_authorization(record, values, log_index)
        restart = read_restart(record, values, log_index)
        if authorization is not None:
            self.authorizations[log_index] = authorization
        if restart is not None:
            self.restarts[log_index] = restart
        return (authorization is not None or restart is not None or is_report(record, values)
                or has_facts(record, values))

    def walk(self):
        leaves, nodes = (self.zip.whole(name, MAX["hashes"]) for name in ("leaves.bin", "nodes.bin"))
        left, right = subtrees(0, self.first), subtrees(self.end, self.size)
        if (len(leaves), len(nodes)) != (32 * (self.end - self.first), 32 * len(left + right)):
            raise Broken("not_a_bundle")
        hashes = [nodes[at : at + 32] for at in range(0, len(nodes), 32)]
        self.policy_sets = {sha(line.encode()) for line in self.zip.lines("policy_sets.jsonl")}
        self.read_authorizations()
        records, payloads = self.zip.lines("records.jsonl"), self.zip.lines("payloads.jsonl")
        self.tasks, self.erased, self.pruned, self.used, self.gap = {}, [], [], set(), False
        self.last, self.last_after, self.before, self.after = "", 0, None, None
        tree = Tree()
        for (level, _), value in zip(left, hashes):
            tree.add(level, value)
        self.seen = {self.first: tree.root()}
        for index in range(self.first, self.end):
            at = 32 * (index - self.first)
            leaf = leaves[at : at + 32]
            tree.add(0, leaf)
            self.seen[tree.size] = tree.root()
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
        record = read_record(line)
        if record is None:
            self.codes.append("record_invalid")
            return
        self.position(index, record)
        if record["type"] == "step":
            self.step(record, leaf.hex(), payload is not None)
        if payload is None:
            return
        self.entries[record["type"]] = self.entries.get(record["type"], 0) + 1
        values = open_payload(payload, record)
        if values is False:
            self.codes.append("payload_mismatch")
        elif values is None:
            self.erased.append((index, -inf))
        else:
            self.payloads["present"] += 1
            self.take(record, values, index)

    def position(self, index, record):
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
        for kind, missing, code in (("erasure", self.erased, "payload_lost"), ("prune", self.pruned, "record_lost")):
            if uncovered(missing, [one[1:] for one in self.authorizations.values() if one[0] == kind]):
                self.codes.append(code)
        if self.policy_sets - self.used:
            self.codes.append("policy_set_unused")
        self.payloads.update(erased=len(self.erased), pruned=len(self.pruned))
        early = self.before is not None and period["from"] is not None and self.before < period["from"]
        previous = self.begin - 1
        begun = millis(period["from"])
        cut = self.before is None and self.first == previous and begun is not None and any(
            kind == "prune" and before <= begun and any(first <= previous <= last for first, last in spans)
            for kind, spans, before in self.authorizations.values())
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
        raise SystemExit("the trust policy has an invalid line") from None
    bundle = Bundle(path, trusted, text(since) if since else None)
    print(json.dumps({"valid": not bundle.codes, "codes": sorted(set(bundle.codes)), "entries": bundle.entries,
                      "payloads": bundle.payloads, "restarts": bundle.restart_views, "container": bundle.container}))
    return 1 if bundle.codes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)
