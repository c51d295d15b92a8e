"""The clients: the same answers as the library's, also when the server goes away; and ``--server``, byte for byte."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import arrastre
from arrastre.client import AsyncClient, Client, Secrets, ServiceError
from run_command import SCRIPT, environment, run
from serving import TEXT, serving

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(map(str, (ROOT / "examples").glob("*.txt")))
HIDDEN = sorted(map(str, (ROOT / "examples" / "hidden").glob("*.txt")))
RECORDS = ROOT / "examples" / "records"
CANTES = str(RECORDS / "cantes.txt")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving() as (address, _):
        yield address


# -- the command


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", *EXAMPLES],
        ["solve", "--json", *EXAMPLES],
        ["solve", "--json", "--objective", "game", *EXAMPLES],
        ["solve", "--json", "--want", "best", EXAMPLES[0]],
        ["solve", "--json", "--want", "value", "--objective", "game", EXAMPLES[0]],
        ["solve", "--json", "--nodes", "20", EXAMPLES[3]],
        ["solve", "--line", CANTES],
        ["solve", "--json", "--line", str(RECORDS / "renuncio.txt")],
        ["solve", "--at", "7.1", "--lang", "es", CANTES],
        ["solve", "--json", TEXT, "no position", CANTES],
        ["best", *HIDDEN],
        ["best", "--json", "--both", "--where", "--why", *HIDDEN],
        ["best", "--lang", "es", "--both", "--where", "--why", "--at", "8.1", CANTES],
        ["best", "--json", "--objective", "game", "--at", "3.1", CANTES],
        ["best", "--seat", "9", *HIDDEN, "no position"],
        ["grade", CANTES],
        ["grade", "--json", "--effort", "quick", *sorted(map(str, RECORDS.iterdir()))],
    ],
    ids=lambda arguments: " ".join(each for each in arguments if "/" not in each),
)
def test_the_output_is_the_same(server: str, arguments: list[str]) -> None:
    here = run(*arguments)
    there = run(*arguments, "--server", server)
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_files_of_grades_are_the_same(server: str, tmp_path: Path) -> None:
    for name, more in (("here", []), ("there", ["--server", server, "--jobs", "2"])):
        (tmp_path / name).mkdir()
        run("grade", "--effort", "quick", str(RECORDS), "-o", str(tmp_path / name / "out.csv"), *more)
    for name in ("out.csv", "out.deals.csv", "out.errors.jsonl"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


@pytest.mark.parametrize("command", [["solve", TEXT], ["best", HIDDEN[0]], ["grade", CANTES]])
def test_no_server(command: list[str]) -> None:
    done = run(*command, "--server", "127.0.0.1:1")
    assert done.returncode == 1 and "UNAVAILABLE" in done.stderr + done.stdout
    done = run(*command, "--server", "127.0.0.1:1", "--token-file", "/no/such/file")
    assert done.returncode == 2 and "/no/such/file" in done.stderr


# -- in Python


def test_answers_are_the_librarys(server: str) -> None:
    position = arrastre.Position.parse(TEXT)
    expected = arrastre.solve(position).to_dict()
    with Client(server) as client:
        assert client.solve(TEXT) == client.solve(position) == client.solve(position.to_dict()) == expected
        assert client.solve(TEXT, objective="game") == arrastre.solve(position, objective="game").to_dict()
        asked = client.solve(TEXT, want="value", at_least=0)
        assert (asked["atLeast"], asked["reaches"], asked["proven"]) == (0, False, True)
        assert list(asked) == list(arrastre.solve(position, want="value", at_least=0).to_dict())
        deal = arrastre.Record.parse(Path(CANTES).read_text()).deals[0]
        found = client.best(record=Path(CANTES).read_text(), at="7.1", worlds=100, seed=3)
        expected = arrastre.best(deal, at="7.1", worlds=100, seed=3).to_dict()
        assert {name: found[name] for name in expected} == expected
        *_, (final, last) = client.watch_best(record=Path(CANTES).read_text(), at="7.1", worlds=100, seed=3)
        assert final and last == found
        many = list(client.solve_many([TEXT, "nonsense", TEXT] * 60))
        assert len(many) == 180
        assert all(isinstance(each, ServiceError) == (index % 3 == 1) for index, each in enumerate(many))
        assert many[0] == many[-1] == client.solve(TEXT)
        ((grade, error),) = client.grade(Path(CANTES).read_text(), effort="quick")
        assert error is None and grade == arrastre.grade(deal, effort="quick").deals[0].to_dict()
        assert [each["name"] for each in client.rulesets()["rulesets"]] == list(arrastre.rulesets())


def test_without_waiting(server: str) -> None:
    async def scenario() -> None:
        async with AsyncClient(server) as client:
            answers = await asyncio.gather(*(client.solve(TEXT) for _ in range(20)))
            assert all(each == answers[0] for each in answers)
            assert (await client.best(record=Path(CANTES).read_text(), at="7.1"))["best"]
            finals = [final async for final, _ in client.watch_best(record=Path(CANTES).read_text(), at="7.1")]
            assert finals[-1] and not any(finals[:-1])
            ((grade, error),) = await client.grade(Path(CANTES).read_text(), effort="quick")
            assert grade is not None and error is None
            assert (await client.rulesets())["rulesets"]
            with pytest.raises(ServiceError) as refused:
                await client.solve("no position")
            assert refused.value.code == "INVALID_ARGUMENT"

    asyncio.run(scenario())


def test_a_refusal_says_what_is_wrong(server: str) -> None:
    with Client(server) as client:
        with pytest.raises(ServiceError) as error:
            client.solve(TEXT.replace("4O", "RE"))
        assert (error.value.code, error.value.reason) == ("INVALID_ARGUMENT", "INVALID_POSITION")
        assert ("hands[3].cards[0]", "CARD_TWICE") in {(each.field, each.reason) for each in error.value.faults} or any(
            each.reason == "CARD_TWICE" for each in error.value.faults
        )
        with pytest.raises(arrastre.errors.InvalidRequest):
            client.solve(TEXT, colour="red")


def test_a_server_that_is_killed_and_comes_back() -> None:
    with serving() as (address, first):
        port = int(address.rpartition(":")[2])
        with Client(address) as client:
            before = client.solve(TEXT)
            first.kill()
            first.wait()
            found: list[Any] = []
            asking = threading.Thread(target=lambda: found.append(client.solve(TEXT)))
            asking.start()
            time.sleep(0.3)
            with serving(port=port):
                asking.join(30)
                assert found == [before]
                assert len(list(client.solve_many([TEXT] * 100))) == 100
        # What the context manager checks of the first has no sense any more.
        first.returncode = 0


def test_a_deadline_is_the_clients(server: str) -> None:
    whole = arrastre.Record.parse(Path(CANTES).read_text()).deals[0].steps[0].position
    with Client(server, timeout=0.5) as client, pytest.raises(ServiceError) as error:
        client.solve(whole, nodes=2**40)
    assert error.value.code == "DEADLINE_EXCEEDED"


# -- secrets


def test_mutual_tls_and_tokens(pki: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("# who may call\nbot s3cret\n")
    secure = ["--tls-cert", str(pki / "server.pem"), "--tls-key", str(pki / "server.key")]
    secure += ["--client-ca", str(pki / "ca.pem"), "--tokens", str(tokens)]
    whole = Secrets(ca=pki / "ca.pem", certificate=pki / "client.pem", key=pki / "client.key", token="s3cret")
    with serving(*secure) as (address, process):
        with Client(address, secrets=whole) as client:
            assert client.solve(TEXT)["margin"] == -12
            tokens.write_text("bot another\n")
            os.kill(process.pid, signal.SIGHUP)
            time.sleep(1)
            with pytest.raises(ServiceError) as refused:
                client.solve(TEXT)
            assert (refused.value.code, refused.value.reason) == ("UNAUTHENTICATED", "UNAUTHENTICATED")
        for wrong in (
            Secrets(ca=pki / "ca.pem", certificate=pki / "client.pem", key=pki / "client.key"),
            Secrets(ca=pki / "ca.pem", certificate=pki / "client.pem", key=pki / "client.key", token="s3cre"),
            Secrets(ca=pki / "ca.pem", token="another"),
            Secrets(token="another"),
        ):
            with Client(address, secrets=wrong, timeout=3) as client, pytest.raises(ServiceError) as refused:
                list(client.watch_best(TEXT))
            assert refused.value.code in ("UNAUTHENTICATED", "UNAVAILABLE", "DEADLINE_EXCEEDED")


def test_the_command_over_tls(pki: Path, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("s3cret\n")
    (tmp_path / "token").write_text("s3cret\n")
    secure = ["--tls-cert", str(pki / "server.pem"), "--tls-key", str(pki / "server.key")]
    with serving(*secure, "--tokens", str(tmp_path / "tokens")) as (address, _):
        more = ["--server", address, "--ca", str(pki / "ca.pem"), "--token-file", str(tmp_path / "token")]
        assert run("solve", TEXT, *more).stdout == run("solve", TEXT).stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "--host"),
        (["--tls-cert", "x.pem"], "--tls-cert"),
        (["--client-ca", "x.pem"], "--client-ca"),
        (["--tokens", "/no/such/file"], "--tokens"),
        (["--tls-cert", "/no/cert", "--tls-key", "/no/key"], "--tls-cert"),
    ],
)
def test_a_server_that_would_not_be_safe_does_not_start(options: list[str], said: str) -> None:
    done = run("serve", "--port", "0", *options)
    assert done.returncode == 2 and said in done.stderr


def test_settings_from_the_environment() -> None:
    done = run("serve", env={"ARRASTRE_SERVE_HOST": "0.0.0.0"})
    assert done.returncode == 2 and "--host" in done.stderr


# -- metrics, and the log


def test_metrics_and_log(tmp_path: Path) -> None:
    from urllib.request import urlopen

    command = [SCRIPT, "serve", "--port", "0", "--metrics-port", "0", "--lang", "en"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[-1]
            started = json.loads(process.stderr.readline())
            assert started["event"] == "serving" and started["max_seconds"] == 60.0
            with Client(address) as client:
                client.solve(TEXT, name="ask 1")
                with pytest.raises(ServiceError):
                    client.solve("nonsense")
            with urlopen(f"http://127.0.0.1:{started['metrics_port']}/metrics") as page:
                text = page.read().decode()
            assert 'arrastre_call_seconds_count{method="Solve",status="OK"} 1.0' in text
            assert 'arrastre_call_seconds_count{method="Solve",status="INVALID_ARGUMENT"} 1.0' in text
            assert re.search(r"^arrastre_table_hits_total [1-9]", text, re.MULTILINE)
            assert "arrastre_nodes_total" in text and "arrastre_waiting_jobs 0.0" in text
            process.terminate()
            lines = [json.loads(line) for line in process.stderr]
            calls = [(each["method"], each["id"], each["status"]) for each in lines if each["event"] == "call"]
            assert calls == [("Solve", "ask 1", "OK"), ("Solve", "", "INVALID_ARGUMENT")]
            assert process.wait(20) == 0
        finally:
            process.kill()
