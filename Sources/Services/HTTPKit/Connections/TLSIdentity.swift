import Base
public import Foundation
import NIOCore
import NIOSSL
import Synchronization

/// The certificate of a server without a proxy, read from files and read again when it is renewed.
///
/// New connections get the one read last; open ones keep theirs, so a renewal disturbs no client.
public final class TLSIdentity: Sendable {
    /// The file with the certificate and, after it, those between it and its root; PEM.
    public let certificateFile: String
    /// The file with its private key; PEM, without a passphrase.
    public let keyFile: String
    private let loaded: Mutex<Loaded>

    private struct Loaded {
        var context: NIOSSLContext
        var expires: Date
    }

    /// Reads both files.
    /// - Throws: ``TLSIdentityError``.
    public init(certificateFile: String, keyFile: String) throws(TLSIdentityError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        loaded = Mutex(try Self.load(certificateFile, keyFile))
    }

    /// Until when the certificate is valid.
    public var expires: Date { loaded.withLock(\.expires) }

    /// Reads both files again; where that fails, the certificate stays as it was.
    /// - Throws: ``TLSIdentityError``.
    public func reload() throws(TLSIdentityError) {
        let news = try Self.load(certificateFile, keyFile)
        loaded.withLock { $0 = news }
    }

    /// The context of a new connection.
    var context: NIOSSLContext { loaded.withLock(\.context) }

    private static func load(_ certificateFile: String, _ keyFile: String) throws(TLSIdentityError) -> Loaded {
        let chain = try certificates(in: certificateFile)
        let key = try privateKey(in: keyFile)
        guard let leaf = chain.first else {
            throw TLSIdentityError("\(certificateFile) holds no certificate in PEM form")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        // Apple: "TLS version 1.2 or later" (App Store Server Notifications, Enabling App Store Server Notifications).
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // How long a peer may take to say goodbye; one that was cut off for slowness must not gain time by it.
        configuration.shutdownTimeout = .seconds(1)
        do {
            let context = try NIOSSLContext(configuration: configuration)
            return Loaded(
                context: context, expires: Date(timeIntervalSince1970: TimeInterval(leaf.notValidAfter)))
        } catch {
            // Each of them can be read, so it is the two together.
            throw TLSIdentityError("the key in \(keyFile) is not that of the first certificate in \(certificateFile)")
        }
    }

    private static func certificates(in file: String) throws(TLSIdentityError) -> [NIOSSLCertificate] {
        let bytes = try contents(of: file)
        do {
            return try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw TLSIdentityError("\(file) holds no certificate in PEM form")
        }
    }

    private static func privateKey(in file: String) throws(TLSIdentityError) -> NIOSSLPrivateKey {
        let bytes = try contents(of: file)
        do {
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
        } catch {
            throw TLSIdentityError("\(file) holds no private key in PEM form without a passphrase")
        }
    }

    private static func contents(of file: String) throws(TLSIdentityError) -> [UInt8] {
        do {
            // Chains are a few kilobytes.
            return try PlainFile(file, upTo: 1 << 20).bytes
        } catch .unreadable(let why) {
            throw TLSIdentityError("cannot read \(file): \(why)")
        } catch {
            throw TLSIdentityError("cannot read \(file): it \(error.predicate)")
        }
    }
}
