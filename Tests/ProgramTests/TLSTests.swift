import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing

@Suite("storehook receive with TLS")
struct TLSTests {
    /// Whether a new connection is shown this very certificate.
    private func shows(_ certificate: ServerCertificate, port: Int) async throws -> Bool {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)))
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = ["localhost": "127.0.0.1"]
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let request = HTTPClientRequest(url: "https://localhost:\(port)/healthz")
        let status = try? await client.execute(request, timeout: .seconds(60)).status
        try await client.shutdown()
        return status == .ok
    }

    @Test("reads its certificate again on SIGHUP, keeps the old one where the new one is no good, and says which")
    func reload() async throws {
        try await withSite { site in
            let first = try ServerCertificate()
            try await CertificateFiles.with(first) { files in
                let arguments = ["receive", "--port", "0", "--tls-certificate", files.certificateFile]
                try await site.with(arguments, ["STOREHOOK_TLS_KEY": files.keyFile]) { receiver in
                    let port = try #require(receiver.port)
                    #expect(try await shows(first, port: port))

                    try "nonsense".write(toFile: files.certificateFile, atomically: true, encoding: .utf8)
                    receiver.signal(SIGHUP)
                    try await eventually("it says that it keeps the old one") {
                        receiver.errors.contains("Kept the certificate")
                    }
                    #expect(receiver.errors.contains("holds no certificate"))
                    #expect(try await shows(first, port: port))

                    let second = try ServerCertificate()
                    try files.write(second)
                    receiver.signal(SIGHUP)
                    try await eventually("it has read the new one") {
                        receiver.errors.contains("Read the certificate again")
                    }
                    #expect(try await shows(second, port: port))
                    #expect(try await !shows(first, port: port))
                    receiver.signal(SIGTERM)
                    #expect(await receiver.end() == .exited(0))
                }
            }
        }
    }

    @Test("refuses to start with files that are no good, in one line that names the file")
    func badFiles() async throws {
        try await withSite { site in
            let own = try ServerCertificate()
            try await CertificateFiles.with(own) { files in
                try await CertificateFiles.with(try ServerCertificate()) { others in
                    let (chain, key, otherKey) = (files.certificateFile, files.keyFile, others.keyFile)
                    let cases: [([String], String)] = [
                        (["--tls-certificate", chain], "both a certificate and its key"),
                        (["--tls-key", key], "both a certificate and its key"),
                        (["--tls-certificate", "/no/such/file", "--tls-key", key], "cannot read /no/such/file"),
                        (["--tls-certificate", chain, "--tls-key", "/no/such/key"], "cannot read /no/such/key"),
                        (["--tls-certificate", "/", "--tls-key", key], "cannot read /"),
                        (["--tls-certificate", key, "--tls-key", key], "\(key) holds no certificate"),
                        (["--tls-certificate", chain, "--tls-key", chain], "\(chain) holds no private key"),
                        (["--tls-certificate", chain, "--tls-key", otherKey], "\(otherKey) is not that of"),
                    ]
                    for (arguments, words) in cases {
                        let program = try site.start(["receive", "--port", "0"] + arguments)
                        #expect(await program.end() == .exited(2), "\(arguments)")
                        #expect(program.errors.contains(words), "\(program.errors)")
                        #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
                        #expect(!program.errors.contains("PRIVATE KEY"))
                        await program.discard()
                    }
                }
            }
        }
    }
}
