import Base
import Foundation
import HTTPKit
import NIOSSL
import TestSupport
import Testing

@Suite("The name of a server that is called")
struct ServerNameTests {
    /// A certificate, and how the server with it may be asked for.
    struct Case: Sendable, CustomTestStringConvertible {
        var what: String
        var host: String
        var names: [String] = []
        var addresses: [[UInt8]] = []
        var isAnswered = false
        var commonName = "somebody"

        var testDescription: String { what }
    }

    private static let own: [UInt8] = [127, 0, 0, 1]

    static let cases = [
        Case(what: "its name", host: "localhost", names: ["localhost"], isAnswered: true),
        Case(what: "its name in capitals", host: "LocalHost", names: ["LOCALHOST"], isAnswered: true),
        Case(
            what: "its name and its address", host: "localhost", names: ["localhost"], addresses: [own],
            isAnswered: true),
        Case(what: "its address alone", host: "localhost", addresses: [own]),
        Case(what: "its address and another name", host: "localhost", names: ["example.com"], addresses: [own]),
        Case(
            what: "its address and its name as common name", host: "localhost", addresses: [own],
            commonName: "localhost"),
        Case(what: "its name as common name alone", host: "localhost", commonName: "localhost"),
        Case(what: "another name", host: "localhost", names: ["example.com"]),
        Case(what: "its address, which was asked for", host: "127.0.0.1", addresses: [own], isAnswered: true),
        Case(what: "its name, where the address was asked for", host: "127.0.0.1", names: ["localhost"]),
        Case(what: "its address as a name", host: "127.0.0.1", names: ["127.0.0.1"]),
    ]

    /// Asks a server in one of the two ways.
    private func ask(
        _ server: TLSServer, _ certificate: ServerCertificate, host: String = "localhost", checked: Bool,
        total: Duration = .seconds(20)
    ) async throws -> Result<OutboundAnswer, OutboundFault> {
        var policy = AddressPolicy()
        policy.allowedNetworks = [try #require(AddressBlock(around: "127.0.0.1"))]
        let resolver = SystemResolver(threads: 1)
        let client = OutboundClient(
            to: checked ? .checked(by: policy, resolver, nameAge: .seconds(1)) : .any,
            roots: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)),
            limits: OutboundClient.Limits(total: total))
        let result: Result<OutboundAnswer, OutboundFault>
        do throws(OutboundFault) {
            result = .success(
                try await client.send(
                    OutboundRequest(
                        "POST", "https://\(host):\(server.port)/", headers: [("Authorization", "Bearer secret")],
                        body: Array("secret".utf8))))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        await resolver.shutdown()
        return result
    }

    @Test("has to be among the DNS names of its certificate, before anything is sent", arguments: cases, [false, true])
    func names(_ row: Case, checked: Bool) async throws {
        let certificate = try ServerCertificate(names: row.names, addresses: row.addresses, commonName: row.commonName)
        let server = try await TLSServer.start(certificate)
        for _ in 0..<2 {
            switch try await ask(server, certificate, host: row.host, checked: checked) {
            case .success(let answer): #expect(row.isAnswered && answer.status == 200)
            case .failure(let fault): #expect(!row.isAnswered && fault == .handshake, "\(fault)")
            }
        }
        #expect(server.wasAsked == row.isAnswered)
        try await server.stop()
    }

    @Test("is asked for by all that the programs call: nothing but OutboundClient makes connections to HTTP servers")
    func callers() throws {
        let sources = packageRoot.appending(path: "Sources")
        var (count, callers): (Int, Set<String>) = (0, [])
        for folder in ["AppStore", "Base", "Domain", "Programs/storehook", "Services", "Storage"] {
            let files = try #require(
                FileManager.default.enumerator(at: sources.appending(path: folder), includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                count += 1
                let text = try String(contentsOf: file, encoding: .utf8)
                guard text.contains("import AsyncHTTPClient") || text.contains("URLSession") else { continue }
                callers.insert(file.deletingLastPathComponent().path.replacing(sources.path + "/", with: ""))
            }
        }
        #expect(count > 500 && callers == ["Services/HTTPKit/Outbound"], "\(callers)")
    }

    @Test("is proven before anything is sent over HTTP/2, too", arguments: [true, false])
    func http2(isNamed: Bool) async throws {
        let certificate = try ServerCertificate(names: isNamed ? ["localhost"] : [], addresses: [Self.own])
        let server = try await TLSServer.start(certificate, speaking: "h2")
        let result = try await ask(
            server, certificate, checked: false, total: isNamed ? .milliseconds(700) : .seconds(20))
        // It never answers.
        #expect(throws: isNamed ? OutboundFault.timeout : .handshake) { try result.get() }
        #expect(server.wasAsked == isNamed && server.heard.starts(with: "PRI ".utf8))
        try await server.stop()
    }

    @Test("is proven by TLS of 1.2 at least, and of 1.3 where the server has it", arguments: [false, true])
    func versions(checked: Bool) async throws {
        let certificate = try ServerCertificate()
        for (most, version) in [(TLSVersion.tlsv1, nil), (.tlsv11, nil), (.tlsv12, .tlsv12), (.tlsv13, .tlsv13)]
            as [(TLSVersion, TLSVersion?)]
        {
            let server = try await TLSServer.start(certificate, to: most)
            let result = try await ask(server, certificate, checked: checked)
            #expect((try? result.get().status) == (version == nil ? nil : 200), "\(most)")
            #expect(server.version == version && server.wasAsked == (version != nil))
            try await server.stop()
        }
    }

    @Test("is asked for by nobody once the client is shut down")
    func shutDown() async throws {
        let server = try ScriptedServer { _ in .json(200, "{}") }
        defer { server.stop() }
        let client = OutboundClient()
        await client.shutdown()
        await #expect(throws: OutboundFault.notConnected) {
            try await client.send(OutboundRequest("GET", "http://127.0.0.1:\(server.port)/"))
        }
        #expect(server.requests.isEmpty)
    }
}
