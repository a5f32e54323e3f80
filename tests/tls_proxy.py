"""A TLS proxy before a server, as a team would run one, with an authority of the tests' own."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def make_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """A certificate for one host that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        alternative = x509.DNSName(host)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate_file, key_file


@contextmanager
def proxied(port: int, certificate: Path, key: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Passes on what arrives over TLS to a port of this machine; its own port, and all that
    clients sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept_all() -> None:
            while True:
                try:
                    plain, _ = listening.accept()
                except OSError:
                    return
                with suppress(OSError), context.wrap_socket(plain, server_side=True) as client:
                    pass_on(client)

        def pass_on(client: ssl.SSLSocket) -> None:
            """One request; a client that connects again gets its answer too."""
            with socket.create_connection(("127.0.0.1", port)) as server:
                answering = threading.Thread(target=copy, args=(server, client))
                answering.start()
                while data := client.recv(65536):
                    received.append(data)
                    server.sendall(data)
                server.shutdown(socket.SHUT_WR)
                answering.join()

        def copy(server: socket.socket, client: ssl.SSLSocket) -> None:
            with suppress(OSError):
                while data := server.recv(65536):
                    client.sendall(data)

        thread = threading.Thread(target=accept_all)
        thread.start()
        try:
            yield listening.getsockname()[1], received
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
