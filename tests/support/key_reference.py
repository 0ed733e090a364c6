#!/usr/bin/env python3
"""A second implementation of docs/key-format.md, from the document and not from the C++.

Prints the published test vectors, one JSON object a line:

    python3 tests/support/key_reference.py > tests/core/key_vectors.jsonl

With --page it prints the same as the last part of docs/key-format.md.

It reads only requests that are keyable: refusals are the business of the C++ tests.
Python 3.9 or later, standard library only.
"""

import decimal
import hashlib
import json
import re
import struct
import sys
import unicodedata
import urllib.parse

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


class Number(str):
    """A JSON number by its text."""


# Components ------------------------------------------------------------------------------------


def component(tag, length, content=b""):
    return tag.encode("ascii") + struct.pack(">I", length) + content


ABSENT = component("X", 0)


def octets(content):
    return component("B", len(content), content)


def text(characters):
    content = unicodedata.normalize("NFC", characters).encode("utf-8")
    return component("S", len(content), content)


def array(components):
    return component("A", len(components), b"".join(components))


def mapping(members):
    """Members are (name, component); sorted by code point of the name in NFC."""
    members = sorted((unicodedata.normalize("NFC", name), value) for name, value in members)
    return component("O", len(members), b"".join(text(name) + value for name, value in members))


def frame(*components):
    return component("K", len(components), b"".join(components))


def exact_decimal(number):
    sign, digits, exponent = decimal.Decimal(number).as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    if not digits:
        return "0e0"
    significand = digits.rstrip("0")
    exponent += len(digits) - len(significand)
    return ("-" if sign else "") + significand + "e" + str(exponent)


def value(node):
    if node is None:
        return component("N", 0)
    if node is False:
        return component("F", 0)
    if node is True:
        return component("T", 0)
    if isinstance(node, Number):
        content = exact_decimal(node).encode("ascii")
        return component("D", len(content), content)
    if isinstance(node, str):
        return text(node)
    if isinstance(node, list):
        return array([value(element) for element in node])
    return mapping([(name, value(member)) for name, member in node.items()])


# The request -----------------------------------------------------------------------------------


def header_values(case, name):
    return [v.strip(" \t").encode("utf-8") for n, v in case["headers"] if n.lower() == name.lower()]


def content_type(case):
    values = header_values(case, "Content-Type")
    return values[0].decode("ascii") if values else ""


def form(body):
    members = {}
    for name, member in urllib.parse.parse_qsl(body.decode("ascii"), keep_blank_values=True):
        members.setdefault(unicodedata.normalize("NFC", name), []).append(member)
    return {name: all_[0] if len(all_) == 1 else all_ for name, all_ in members.items()}


def body_values(case):
    """The body as values, or None where it is none."""
    body = bytes.fromhex(case["body_hex"])
    essence = content_type(case).split(";")[0].strip().lower()
    if body and (essence == "application/json" or essence.endswith("+json")):
        return json.loads(body.decode("utf-8"), parse_int=Number, parse_float=Number)
    if body and essence == "application/x-www-form-urlencoded":
        return form(body)
    return None


def whole_body(case):
    body = bytes.fromhex(case["body_hex"])
    if not body:
        return ABSENT
    values = body_values(case)
    if values is not None:
        return value(values)
    multipart = re.match(r"multipart/.*boundary=\"?([^\";]+)", content_type(case))
    if multipart:
        delimiter = rb"(?:\A|\r\n)--" + re.escape(multipart.group(1).encode("ascii"))
        return array([octets(piece) for piece in re.split(delimiter, body)])
    return octets(body)


def follow(node, pointer):
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        elif isinstance(node, dict):
            members = {unicodedata.normalize("NFC", name): member for name, member in node.items()}
            if unicodedata.normalize("NFC", token) not in members:
                return ABSENT
            node = members[unicodedata.normalize("NFC", token)]
        else:
            return ABSENT
    return value(node)


def one_or_list(values):
    if not values:
        return ABSENT
    return octets(values[0]) if len(values) == 1 else array([octets(v) for v in values])


def query_values(case, name):
    pairs = urllib.parse.parse_qsl(case["query"] or "", keep_blank_values=True, encoding="latin-1")
    return [v.encode("latin-1") for n, v in pairs if n.encode("latin-1") == name.encode("utf-8")]


def source_value(case, source):
    kind, _, subject = source.partition(":")
    if kind == "header":
        return one_or_list(header_values(case, subject))
    if kind == "query":
        return one_or_list(query_values(case, subject))
    if kind == "path":
        return octets(bytes.fromhex(case["params_hex"][subject]))
    if kind == "body":
        values = body_values(case)
        return ABSENT if values is None else follow(values, subject)
    if kind == "constant":
        return octets(subject.encode("utf-8"))
    if kind == "tls":
        return octets(case["tls"][subject].encode("utf-8"))
    return octets(hashlib.sha256(header_values(case, "Authorization")[0]).digest())


def source_name(source):
    kind, _, subject = source.partition(":")
    return kind + ":" + (subject.lower() if kind == "header" else subject)


def named(case, sources):
    return mapping([(source_name(source), source_value(case, source)) for source in sources])


def normal_query(query):
    def spell(escape):
        byte = int(escape.group(1), 16)
        return chr(byte) if byte in UNRESERVED else "%%%02X" % byte

    return re.sub("%([0-9A-Fa-f]{2})", spell, query)


def query(case):
    return ABSENT if case["query"] is None else octets(normal_query(case["query"]).encode("ascii"))


def conditions(case):
    names = sorted({n.lower() for n, _ in case["headers"]})
    names = [name for name in names if name == "range" or name.startswith("if-")]
    return mapping([(n, array([octets(v) for v in header_values(case, n)])) for n in names])


def path(case):
    if case["path"] == "route":
        return octets(case["pattern"].encode("utf-8"))
    return array([octets(bytes.fromhex(segment)) for segment in case["segments_hex"]])


# The digests -----------------------------------------------------------------------------------


def client_key(case):
    values = header_values(case, "Idempotency-Key")
    if not values or case["client_key"] == "ignore":
        return None
    if values[0].startswith(b'"'):
        return re.sub(rb"\\(.)", rb"\1", values[0][1:-1])
    return values[0]


def canonical_key(case):
    client = client_key(case)
    if client is not None:
        arguments = octets(client)
    elif case["fields"]:
        arguments = named(case, case["fields"])
    else:
        arguments = mapping(
            [("body", whole_body(case)), ("headers", conditions(case)), ("query", query(case))]
        )
    derived = client is None
    return frame(
        octets(b"semel-key/1"),
        ABSENT if case["key_version"] is None else octets(str(case["key_version"]).encode("ascii")),
        octets(b"derived" if derived else b"client"),
        source_value(case, case["tenant"]),
        source_value(case, case["run"]) if derived and case["run"] else ABSENT,
        octets(case["operation"].encode("utf-8")),
        octets(case["method"].encode("ascii")),
        path(case) if derived else ABSENT,
        arguments,
    )


def digests(case):
    zero = bytes(32)
    caller = guards = fingerprint = zero
    if case["caller"]:
        caller = frame(octets(b"semel-caller/1"), source_value(case, case["caller"]))
        caller = hashlib.sha256(caller).digest()
    if case["guards"]:
        guards = frame(octets(b"semel-guards/1"), named(case, case["guards"]))
        guards = hashlib.sha256(guards).digest()
    if client_key(case) is not None:
        payload = named(case, case["fields"]) if case["fields"] else whole_body(case)
        fingerprint = frame(octets(b"semel-fingerprint/1"), path(case), query(case), payload)
        fingerprint = hashlib.sha256(fingerprint).digest()
    return {"caller": caller.hex(), "guards": guards.hex(), "fingerprint": fingerprint.hex()}


# The vectors -----------------------------------------------------------------------------------

JSON_TYPE = ["Content-Type", "application/json"]
FORM_TYPE = ["Content-Type", "application/x-www-form-urlencoded"]
IDENTITY = [["X-Tenant-Id", "acme"], ["X-Run-Id", "run-7"]]


def case(name, body=b"", headers=(), **changes):
    made = {
        "name": name,
        "operation": "book",
        "key_version": None,
        "method": "POST",
        "path": "concrete",
        "pattern": "/tools/book",
        "segments_hex": [b"tools".hex(), b"book".hex()],
        "params_hex": {},
        "tenant": "header:X-Tenant-Id",
        "run": "header:X-Run-Id",
        "caller": None,
        "fields": [],
        "guards": [],
        "client_key": "optional",
        "query": None,
        "headers": IDENTITY + list(headers),
        "tls": {"subject": "", "uri": "", "dns": ""},
        "body_hex": (body if isinstance(body, bytes) else body.encode("utf-8")).hex(),
    }
    made.update(changes)
    return made


def cases():
    yield case("one named field", '{"flight":"BA117"}', [JSON_TYPE], fields=["body:/flight"])
    yield case(
        "numbers are exact decimals",
        '{"a":20e-1,"b":-0.0e5,"c":9007199254740993,"d":0.10,"e":-1200,"f":1E+3}',
        [JSON_TYPE],
        fields=["body:/f", "body:/e", "body:/d", "body:/c", "body:/b", "body:/a"],
    )
    yield case(
        "members sorted by code point after NFC",
        '{"meta":{"\\ud83d\\ude00":1,"\\uff5e":2,"e\\u0301":3,"z":[true,false,null,""],"A":{}}}',
        [JSON_TYPE],
        fields=["body:/meta"],
    )
    yield case(
        "pointer escapes and an array index",
        '{"a/b":[{"m~n":"x"},"y"]}',
        [["Content-Type", "application/vnd.acme+json; charset=UTF-8"]],
        fields=["body:/a~1b/0/m~0n", "body:/a~1b/1"],
    )
    yield case(
        "null and the empty text",
        '{"x":null,"y":""}',
        [JSON_TYPE],
        fields=["body:/x", "body:/y"],
    )
    yield case("whole request, JSON", '{ "b" : [1, 2] , "a" : "\\u00c5" }', [JSON_TYPE])
    yield case(
        "whole request with a query and conditions",
        '{"a":1}',
        [JSON_TYPE, ["Range", "bytes=0-9"], ["If-Match", '"v1"'], ["IF-MATCH", '"v2"']],
        query="q=%7e%2f&r=a+b%c3%a9",
    )
    yield case("whole request, other bytes", b"\x00\xff<x/>", [["Content-Type", "text/xml"]])
    yield case("whole request without a body", b"", [], query="")
    yield case("whole request, form", b"b=2&a=x+y&b=%C3%A9&c", [FORM_TYPE])
    yield case(
        "named field of a form",
        b"flight=BA117&seat=1A&seat=1B",
        [FORM_TYPE],
        fields=["body:/flight", "body:/seat"],
    )
    yield case(
        "sources of every kind",
        '{"flight":"BA117"}',
        [
            JSON_TYPE,
            ["X-Part", " one "],
            ["Authorization", "Bearer t0ken"],
            ["X-Many", "1"],
            ["x-many", "2"],
        ],
        fields=[
            "header:X-Part",
            "header:X-Many",
            "query:tag",
            "path:id",
            "body:/flight",
            "constant:fixed",
            "tls:subject",
            "tls:uri",
            "tls:dns",
            "authorization:digest",
        ],
        query="tag=a%20b&tag=%FF&other=1",
        pattern="/accounts/{id}/pay",
        segments_hex=[b"accounts".hex(), b"\xff 1".hex(), b"pay".hex()],
        params_hex={"id": b"\xff 1".hex()},
        tls={"subject": "CN=agent", "uri": "spiffe://acme/agent", "dns": "agent.acme.example"},
        operation="pay",
    )
    yield case(
        "path: route",
        '{"flight":"BA117"}',
        [JSON_TYPE],
        fields=["body:/flight"],
        path="route",
        pattern="/tools/{tool}",
        params_hex={"tool": b"book".hex()},
    )
    yield case("run: none", '{"flight":"BA117"}', [JSON_TYPE], fields=["body:/flight"], run=None)
    yield case(
        "tenant and run from the body",
        '{"tenant":"acme","run":7.0,"flight":"BA117"}',
        [JSON_TYPE],
        fields=["body:/flight"],
        tenant="body:/tenant",
        run="body:/run",
    )
    yield case(
        "key version",
        '{"flight":"BA117"}',
        [JSON_TYPE],
        fields=["body:/flight"],
        key_version=2,
    )
    yield case(
        "caller and guards",
        '{"flight":"LH400","amount":12.50}',
        [JSON_TYPE, ["X-Caller", "agent-1"]],
        fields=["body:/flight"],
        caller="header:X-Caller",
        guards=["body:/note", "body:/amount"],
    )
    yield case(
        "client key, named fields",
        '{"flight":"BA117"}',
        [JSON_TYPE, ["Idempotency-Key", '"a\\"b"']],
        fields=["body:/flight"],
        query="dry=1",
    )
    yield case(
        "client key, whole body",
        '{"b":1,"a":2.0}',
        [JSON_TYPE, ["Idempotency-Key", "8e03978e/1"]],
        client_key="required",
        path="route",
        pattern="/tools/book",
    )
    yield case(
        "client key, multipart",
        b'--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xyz--\r\n',
        [["Content-Type", "multipart/form-data; boundary=xyz"], ["Idempotency-Key", "k1"]],
    )


def page(made):
    """One vector for people to read."""

    def spoken(digits):
        try:
            shown = bytes.fromhex(digits).decode("utf-8")
        except UnicodeDecodeError:
            return "(hex) `" + digits + "`"
        return "`" + shown + "`" if shown.isprintable() else "(hex) `" + digits + "`"

    def listed(label, items):
        return ", " + label + " " + ", ".join("`%s`" % item for item in items) if items else ""

    segments = (bytes.fromhex(segment).decode("latin-1") for segment in made["segments_hex"])
    target = "/" + "/".join(segments).encode("unicode_escape").decode("ascii")
    line = "- operation `%s`, `%s`, path `%s`" % (made["operation"], made["method"], target)
    if made["path"] == "route":
        line += " as the pattern `%s`" % made["pattern"]
    if made["query"] is not None:
        line += ", query `%s`" % made["query"] if made["query"] else ", an empty query"
    if made["key_version"] is not None:
        line += ", key version %d" % made["key_version"]
    yield line
    yield (
        "- tenant `%s`, run %s" % (made["tenant"], "`%s`" % made["run"] if made["run"] else "none")
        + (listed("fields", made["fields"]) or ", no fields")
        + listed("guards", made["guards"])
        + listed("caller", [made["caller"]] if made["caller"] else [])
        + ", client_key " + made["client_key"]
    )
    yield "- headers " + ", ".join("`%s: %s`" % (name, v) for name, v in made["headers"])
    if made["tls"]["subject"]:
        yield "- tls " + ", ".join("%s `%s`" % name for name in made["tls"].items())
    yield "- body " + (spoken(made["body_hex"]) if made["body_hex"] else "absent")
    yield "\n```text"
    yield re.sub("(.{96})(?=.)", r"\1\n", made["canonical"])
    yield "```\n"
    yield "- key `%s`" % made["key"]
    for name in ("caller", "guards", "fingerprint"):
        if made["digest_" + name].strip("0"):
            yield "- %s `%s`" % (name, made["digest_" + name])


def vectors():
    for made in cases():
        canonical = canonical_key(made)
        made["canonical"] = canonical.hex()
        made["key"] = hashlib.sha256(canonical).hexdigest()
        made.update({"digest_" + name: digest for name, digest in digests(made).items()})
        yield made


def main():
    for number, made in enumerate(vectors(), 1):
        if "--page" in sys.argv[1:]:
            print("\n### %d. %s%s\n" % (number, made["name"][0].upper(), made["name"][1:]))
            print("\n".join(page(made)))
        else:
            print(json.dumps(made, ensure_ascii=True))


if __name__ == "__main__":
    main()
