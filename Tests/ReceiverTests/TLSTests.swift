import AsyncHTTPClient
import Foundation
import HTTPKit
import NIOCore
import NIOHTTP1
import NIOSSL
import Receiver
import ServiceLifecycle
import TestSupport
import Testing

@Suite("With TLS the receiver")
struct TLSTests {
    /// A client that trusts one certificate and no other.
    private func client(
        trusting certificate: ServerCertificate, _ adjust: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)))
        adjust(&tls)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = ["localhost": "127.0.0.1"]
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private func post(_ jws: String, by client: HTTPClient, to port: Int) async throws -> Int {
        var request = HTTPClientRequest(url: "https://localhost:\(port)/webhooks/apple")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: envelope(jws)))
        let response = try await client.execute(request, timeout: .seconds(60))
        // Read to its end, or the connection is not used again.
        _ = try await response.body.collect(upTo: 1 << 16)
        return Int(response.status.code)
    }

    private func expectStored(_ jws: String, by client: HTTPClient, to port: Int) async throws {
        let status = try await post(jws, by: client, to: port)
        #expect(status == 200)
    }

    private func using(
        _ client: HTTPClient, isolation: isolated (any Actor)? = #isolation, _ body: (HTTPClient) async throws -> Void
    ) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        try await client.shutdown()
        return try result.get()
    }

    private func withTLS(
        adjusting adjust: (inout ReceiverConfiguration) -> Void = { _ in },
        _ body: (RunningReceiver, ServerCertificate, TLSIdentity, CertificateFiles) async throws -> Void
    ) async throws {
        let certificate = try ServerCertificate()
        try await CertificateFiles.with(certificate) { files in
            let identity = try TLSIdentity(certificateFile: files.certificateFile, keyFile: files.keyFile)
            try await withReceiver(adjusting: { configuration in
                configuration.http.tls = identity
                adjust(&configuration)
            }) { receiver in
                try await body(receiver, certificate, identity, files)
            }
        }
    }

    @Test("stores what is posted, and speaks nothing else on its port")
    func posts() async throws {
        try await withTLS { receiver, certificate, _, _ in
            try await using(client(trusting: certificate)) { client in
                try await expectStored("a.b.c", by: client, to: receiver.port)
            }
            #expect(try await receiver.stored() == ["a.b.c"])
            await #expect(throws: (any Error).self) { try await receiver.post(envelope("x")) }
            #expect(try await receiver.stored() == ["a.b.c"])
        }
    }

    @Test("refuses what is older than TLS 1.2, which Apple demands")
    func versions() async throws {
        try await withTLS { receiver, certificate, _, _ in
            for (version, isServed) in [(TLSVersion.tlsv11, false), (.tlsv12, true), (.tlsv13, true)] {
                let client = try client(trusting: certificate) { tls in
                    tls.minimumTLSVersion = .tlsv1
                    tls.maximumTLSVersion = version
                }
                try await using(client) { client in
                    let status = try? await post("\(version)", by: client, to: receiver.port)
                    #expect(status == (isServed ? 200 : nil), "\(version)")
                }
            }
            #expect(try await receiver.stored() == ["tlsv12", "tlsv13"])
        }
    }

    @Test("shows a renewed certificate to new connections and leaves the old ones alone")
    func renewal() async throws {
        try await withTLS { receiver, old, identity, files in
            try await using(client(trusting: old)) { standing in
                try await expectStored("before", by: standing, to: receiver.port)
                let renewed = try ServerCertificate()
                try files.write(renewed)
                try identity.reload()
                // Over the connection that stands, since a new one would not be trusted.
                try await expectStored("after", by: standing, to: receiver.port)
                try await using(client(trusting: renewed)) { new in
                    try await expectStored("new", by: new, to: receiver.port)
                }
                try await using(client(trusting: old)) { client in
                    await #expect(throws: (any Error).self) {
                        try await post("late", by: client, to: receiver.port)
                    }
                }
            }
            #expect(try await receiver.stored() == ["before", "after", "new"])
        }
    }

    @Test("keeps the certificate it has where the new files are no good")
    func badRenewal() async throws {
        try await withTLS { receiver, certificate, identity, files in
            try ServerCertificate().key.write(toFile: files.keyFile, atomically: true, encoding: .utf8)
            #expect(throws: TLSIdentityError.self) { try identity.reload() }
            try await using(client(trusting: certificate)) { client in
                try await expectStored("a.b.c", by: client, to: receiver.port)
            }
        }
    }

    @Test("ends a connection that never finishes its handshake, however it dribbles", arguments: [true, false])
    func handshake(sayingSomething: Bool) async throws {
        try await withTLS(adjusting: { configuration in
            configuration.http.requestDeadline = .milliseconds(300)
            // Not what is to end it here.
            configuration.http.idleTimeout = .seconds(3600)
        }) { receiver, _, _, _ in
            let port = receiver.port
            try await onThread {
                let socket = try TCPSocket(port: port, readTimeout: 300)
                defer { socket.close() }
                // The beginning of a record that announces 512 bytes.
                if sayingSomething { try socket.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]) }
                // Throws where the receiver is more patient than this is.
                while try !socket.receive().isEmpty {}
            }
        }
    }

    @Test("cuts off a body that does not arrive in time")
    func slowBody() async throws {
        try await withTLS(adjusting: { $0.http.requestDeadline = .milliseconds(300) }) { receiver, certificate, _, _ in
            try await using(client(trusting: certificate)) { client in
                var request = HTTPClientRequest(url: "https://localhost:\(receiver.port)/webhooks/apple")
                request.method = .POST
                // Nothing ever comes: only the receiver can end this.
                let (body, _) = AsyncStream.makeStream(of: ByteBuffer.self)
                request.body = .stream(body, length: .known(Int64(200_000)))
                await #expect(throws: (any Error).self) { try await client.execute(request, timeout: .seconds(300)) }
            }
            #expect(try await receiver.stored().isEmpty)
        }
    }

    @Test("stops without waiting for connections that stand idle or are still shaking hands")
    func stop() async throws {
        try await withTLS { receiver, certificate, _, _ in
            let port = receiver.port
            try await using(client(trusting: certificate)) { client in
                try await expectStored("a.b.c", by: client, to: port)
                let socket = try await onThread { try TCPSocket(port: port, readTimeout: 300) }
                await receiver.services.triggerGracefulShutdown()
                _ = try await onThread { socket.receiveToEnd() }
                socket.close()
            }
        }
    }
}
