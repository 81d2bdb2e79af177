import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Crypto
import HTTPKit
import NIOSSL
import Simulation
import TestSupport
import Testing

@testable import AppleSync

@Suite("Apple's servers over HTTP")
struct HTTPTransportTests {
    /// What asking a server for one transaction ends with, at the first fault.
    private func ask(
        _ port: Int, limits: HTTPTransport.Limits = .init()
    ) async throws -> AppStoreFailure {
        let transport = HTTPTransport(limits: limits)
        let client = AppStoreClient(
            Credentials(
                bundleId: "com.example.app", issuerId: "i", keyId: "k",
                key: try SigningKey(pem: P256.Signing.PrivateKey().pemRepresentation)),
            hosts: try AppStoreHosts(standIn: "http://127.0.0.1:\(port)", for: [.sandbox]), transport: transport,
            clock: MachineClock(),
            verifier: Verifier(
                configuration: VerifierConfiguration(apps: ["com.example.app": nil]), clock: MachineClock().now),
            budget: RateBudget(), policy: CallPolicy(maximumAttempts: 1, freshDelays: []))
        let failure = await #expect(throws: AppStoreFailure.self) {
            _ = try await client.ask(
                .appAccountToken("1", is: UniqueIdentifier(high: 1, low: 2)), in: .sandbox)
        }
        await transport.shutdown()
        return try #require(failure)
    }

    @Test("are sent method, path, query, token and body, and their error comes back")
    func request() async throws {
        let server = try ScriptedServer { _ in .json(400, #"{"errorCode":4000187,"errorMessage":"…"}"#) }
        defer { server.stop() }
        let failure = try await ask(server.port)
        #expect(failure.code == "transaction_id_is_not_original_transaction_id")
        let request = try #require(server.requests.first)
        #expect(request.line == "PUT /inApps/v1/transactions/1/appAccountToken?environment=Sandbox")
        #expect(
            request.text.contains("Authorization: Bearer eyJ")
                && request.text.contains("Content-Type: application/json"))
        #expect(request.text.hasSuffix(#"{"appAccountToken":"00000000-0000-0001-0000-000000000002"}"#))
    }

    @Test("that redirect are not followed: the token is for the host that was asked")
    func redirect() async throws {
        let other = try ScriptedServer { _ in .json(200, "{}") }
        let server = try ScriptedServer { _ in .json(302, "", "Location: http://127.0.0.1:\(other.port)/\r\n") }
        defer {
            server.stop()
            other.stop()
        }
        #expect(try await ask(server.port).reason == .status(302))
        #expect(other.requests.isEmpty)
    }

    @Test("that are silent, end early, are away, or say too much are told apart")
    func faults() async throws {
        let limits = HTTPTransport.Limits(answer: .milliseconds(200), bytes: 1000)
        let cases: [(ScriptedServer.Answer, TransportFault)] = [
            (.silence, .timeout),
            // A head, and then not the body that it promises: the deadline is for all of it.
            (.bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .disconnected),
            (.bytes("HTT"), .disconnected),
            (.json(200, String(repeating: "x", count: 1001)), .tooLong),
        ]
        for (answer, fault) in cases {
            let server = try ScriptedServer { _ in answer }
            let failure = try await ask(server.port, limits: fault == .timeout ? limits : .init(bytes: 1000))
            #expect(failure.reason == .unreachable(fault))
            server.stop()
        }
        let (socket, port) = try TCPSocket.listening(port: 0)
        socket.close()
        #expect(try await ask(port).reason == .unreachable(.notConnected))
    }

    @Test("count as not reached where TLS fails before a request is sent, and as perhaps heard where it fails later")
    func brokenTLS() {
        let unheard: [any Error] = [
            NIOSSLError.handshakeFailed(.sslError([])), NIOSSLError.unableToValidateCertificate,
            NIOSSLError.noCertificateToValidate, NIOSSLExtraError.failedToValidateHostname,
            NIOSSLExtraError.serverHostnameImpossibleToMatch,
        ]
        for error in unheard { #expect(TransportFault(OutboundFault(error)) == .tls) }
        let later: [any Error] = [
            BoringSSLError.sslError([]), BoringSSLError.syscallError, NIOSSLError.uncleanShutdown,
            NIOSSLError.readInInvalidTLSState, NIOSSLError.writeDuringTLSShutdown,
            NIOSSLError.shutdownFailed(.zeroReturn),
        ]
        for error in later { #expect(TransportFault(OutboundFault(error)) == .disconnected) }
    }
}
