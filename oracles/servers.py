"""Object storage servers for the tests: moto, SeaweedFS, WsgiDAV, and a proxy that loses answers."""

import contextlib
import http.client
import http.server
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

KEY, SECRET, BUCKET = "test-key", "test-secret-0123", "bucket"


class Server:
    """A server of the S3 protocol, with one bucket."""

    def __init__(self, port):
        self.port = port

    def environment(self, port=None):
        """Returns the variables with which the command reaches the server, through another port if given."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return kept | {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port or self.port}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }


def free_port():
    """Returns a port that is free, and whose number plus 10,000 is free, too: SeaweedFS uses both."""
    for _ in range(1000):
        port = random.randrange(12000, 30000)
        with contextlib.suppress(OSError), socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 10000))
            return port
    pytest.fail("no port is free")


def program(name):
    """Returns the path of a server from oracles/requirements.txt. A missing one fails the tests: they must not pass unseen."""
    found = shutil.which(name, path=pathlib.Path(sys.executable).parent) or shutil.which(name)
    if found is None:
        if os.environ.get("BITGRAIN_ALLOW_NO_SERVERS") == "1":
            pytest.skip(f"NOT TESTED: {name} is not installed")
        pytest.fail(f"{name} is not installed; install oracles/requirements.txt, or set BITGRAIN_ALLOW_NO_SERVERS=1")
    return found


def wait_for(url, process):
    """Waits until a server answers."""
    for _ in range(300):
        if process.poll() is not None:
            pytest.fail(f"the server ended with code {process.returncode}")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=1).close()
            return
        time.sleep(0.1)
    pytest.fail(f"the server does not answer at {url}")


@contextlib.contextmanager
def moto():
    """Runs moto, which keeps objects in memory."""
    server = Server(free_port())
    arguments = [program("moto_server"), "-H", "127.0.0.1", "-p", str(server.port)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{server.port}/moto-api/", process)
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
        yield server
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def webdav(folder):
    """Runs WsgiDAV, which keeps files in a folder; returns its port."""
    port = free_port()
    arguments = [program("wsgidav"), "--host", "127.0.0.1", "--port", str(port), "--root", str(folder)]
    arguments += ["--auth", "anonymous", "--no-config"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/", process)
        yield port
    finally:
        process.kill()
        process.wait()


class SeaweedFS(Server):
    """SeaweedFS, which keeps objects in a folder, so that it can be killed and started again."""

    def __init__(self, folder):
        super().__init__(free_port())
        self.folder = pathlib.Path(folder)
        self.process = None
        # Every part of the server listens on a separate port.
        self.ports = [f"-{part}.port={free_port()}" for part in ("master", "volume", "filer")]

    def start(self):
        """Starts the server and waits until it has its bucket."""
        arguments = [program("weed"), "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"]
        arguments += [f"-s3.port={self.port}", "-volume.max=8", "-master.volumeSizeLimitMB=64", *self.ports]
        arguments += [f"-s3.config={self.identities()}"]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(arguments, stdout=log, stderr=log)
        log.close()
        wait_for(f"http://127.0.0.1:{self.port}/healthz", self.process)
        self.make_bucket()

    def identities(self):
        """Writes the file with the keys that the server accepts."""
        path = self.folder / "s3.json"
        actions = '["Admin", "Read", "Write", "List", "Tagging"]'
        credentials = f'[{{"accessKey": "{KEY}", "secretKey": "{SECRET}"}}]'
        path.write_text(f'{{"identities": [{{"name": "test", "credentials": {credentials}, "actions": {actions}}}]}}')
        return path

    def make_bucket(self):
        """Creates the bucket; retried, because the filer may start after the gateway."""
        import boto3
        from botocore.config import Config

        client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            config=Config(retries={"max_attempts": 1}),
        )
        for attempt in range(100):
            try:
                if all(bucket["Name"] != BUCKET for bucket in client.list_buckets()["Buckets"]):
                    client.create_bucket(Bucket=BUCKET)
                # The first object makes the server grow its volumes, which takes seconds.
                client.put_object(Bucket=BUCKET, Key="warm", Body=b"x")
                return client.delete_object(Bucket=BUCKET, Key="warm")
            except Exception:
                if attempt == 99:
                    raise
                time.sleep(0.2)

    def kill(self):
        """Ends the server as a power failure would."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def seaweedfs(folder):
    """Runs SeaweedFS."""
    server = SeaweedFS(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def losing_answers(server, lost):
    """Runs a proxy that forwards requests, and closes the connection instead of answering where `lost` says so.

    `lost` takes the method and path of a request. The list that is returned has the requests whose answer was lost.
    """
    losses = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            data = answer.read()
            if lost(self.command, self.path):
                losses.append((self.command, self.path))
                self.close_connection = True
                return self.connection.shutdown(socket.SHUT_RDWR)
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward  # noqa: N815

        def log_message(self, *_):
            pass

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy.server_address[1], losses
    finally:
        proxy.shutdown()
        proxy.server_close()
