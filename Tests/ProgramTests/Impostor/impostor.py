"""An impostor: a server with a certificate of its own address, which DNS gives for every name that storehook asks for.

It lives in a network and a mount namespace of its own, so that it can have a public address, the port 443, the names of others
(/etc/hosts) and a certificate that the system trusts. Only PostgreSQL is reached from there, over a socket in the directory.

    impostor.py --check             whether such namespaces are to be had; exit status 0 if so
    impostor.py DIRECTORY STOREHOOK what programs make of it, as JSON

The directory holds chain.pem, key.pem, jwks.json and token; settings come by the environment.
"""

import ctypes
import fcntl
import http.server
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ADDRESS = "203.0.113.7"
NAMES = ["login.example.com", "api.storekit-sandbox.apple.com", "api.storekit.apple.com"]
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000


def enter():
    """Moves this process into namespaces of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags, user, group = CLONE_NEWNS | CLONE_NEWNET, os.geteuid(), os.getegid()
    if user != 0:
        flags |= CLONE_NEWUSER
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare: " + os.strerror(ctypes.get_errno()))
    if user != 0:
        for file, text in [("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")]:
            with open(f"/proc/self/{file}", "w") as out:
                out.write(text)
    # Else what is mounted here would be mounted everywhere.
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    with socket.socket() as some:
        address = struct.pack("16sH2s4s8s", b"lo:1", socket.AF_INET, b"", socket.inet_aton(ADDRESS), b"")
        up = struct.pack("16sh14s", b"lo", 1, b"")
        fcntl.ioctl(some, 0x8914, up)  # SIOCSIFFLAGS, IFF_UP
        fcntl.ioctl(some, 0x8916, address)  # SIOCSIFADDR


def lay_over(place, text, directory):
    """Has a file say something else, in this namespace."""
    file = os.path.join(directory, os.path.basename(place))
    with open(file, "w") as out:
        out.write(text)
    os.chmod(file, 0o644)
    subprocess.run(["mount", "--bind", file, place], check=True)


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def carry(source, drain):
    try:
        while data := source.recv(65536):
            drain.sendall(data)
        drain.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def forward(path, host, port):
    """Carries connections from a socket in the file system to PostgreSQL. A process: threads would follow into the namespace."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        os.chmod(path, 0o666)
        listener.listen(50)
        while True:
            near, _ = listener.accept()
            far = socket.create_connection((host, port))
            for pair in [(near, far), (far, near)]:
                threading.Thread(target=carry, args=pair, daemon=True).start()


class Impostor(http.server.BaseHTTPRequestHandler):
    asked = []
    answer = b""

    def do_GET(self):
        self.asked.append({"host": self.headers["Host"], "token": "Authorization" in self.headers})
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_):
        pass


def listen(directory):
    Impostor.answer = read(directory, "jwks.json").encode()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "chain.pem"), os.path.join(directory, "key.pem"))

    class Server(http.server.ThreadingHTTPServer):
        def get_request(self):
            connection, peer = self.socket.accept()
            connection.settimeout(20)
            return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), peer

        def handle_error(self, *_):
            pass  # who does not trust the certificate hangs up

    threading.Thread(target=Server((ADDRESS, 443), Impostor).serve_forever, daemon=True).start()


def account(storehook, environment, token):
    """The status that the token gets from serve, once serve has looked for its keys."""
    program = subprocess.Popen(
        [storehook, "serve", "--port", "8081"], env=environment, stderr=subprocess.PIPE, text=True)
    said = []
    reader = threading.Thread(target=lambda: said.extend(iter(program.stderr.readline, "")), daemon=True)
    reader.start()
    end = time.monotonic() + 60
    status = 0
    while time.monotonic() < end and program.poll() is None:
        time.sleep(0.05)
        if not any("the keys of tokens" in line for line in said) or not any("Listening" in line for line in said):
            continue
        request = urllib.request.Request("http://127.0.0.1:8081/v1/account", headers={"Authorization": f"Bearer {token}"})
        try:
            status = urllib.request.urlopen(request, timeout=20).status
        except urllib.error.HTTPError as error:
            status = error.code
        break
    program.terminate()
    program.wait(30)
    reader.join(5)
    return {"status": status, "said": "".join(said)}


def run(arguments, environment):
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=120)
    return {"status": done.returncode, "said": done.stdout + done.stderr}


def main(directory, storehook):
    environment = dict(os.environ)
    url = urllib.parse.urlsplit(environment["DATABASE_URL"])
    forwarder = subprocess.Popen(
        [sys.executable, __file__, "--forward", f"{directory}/.s.PGSQL.5432", url.hostname, str(url.port or 5432)])
    try:
        enter()
        user = url.netloc.rpartition("@")[0]
        place = urllib.parse.quote(directory, safe="")
        rest = f"{url.query}&" if url.query else ""
        environment["DATABASE_URL"] = f"postgresql://{user}@{url.path}?{rest}host={place}&port=5432"
        lay_over("/etc/hosts", "127.0.0.1 localhost\n" + "".join(f"{ADDRESS} {name}\n" for name in NAMES), directory)
        lay_over("/etc/ssl/certs/ca-certificates.crt", read(directory, "chain.pem"), directory)
        listen(directory)
        doctor = run([storehook, "doctor", "--role", "api", "--format", "json"], environment)
        apple = run([storehook, "apple", "transaction", "1", "--environment", "Sandbox"], environment)
        served = account(storehook, environment, read(directory, "token").strip())
        print(json.dumps({"doctor": doctor, "apple": apple, "serve": served, "asked": Impostor.asked}))
    finally:
        forwarder.kill()


if sys.argv[1] == "--check":
    enter()
elif sys.argv[1] == "--forward":
    forward(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    main(*sys.argv[1:])
