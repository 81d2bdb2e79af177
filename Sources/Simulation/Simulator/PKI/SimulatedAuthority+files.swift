import Crypto
import SwiftASN1
import X509

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension SimulatedAuthority {
    private static let certificateFiles = ["leaf.pem", "intermediate.pem", "root.pem"]
    private static let keyFile = "leaf.key"
    private static let rootFile = "root.cer"

    /// Writes `leaf.pem`, `intermediate.pem`, `root.pem`, `root.cer` and `leaf.key` into the directory, which is made if it is not there.
    ///
    /// The leaf's key is readable by its owner only. The keys of the root and the intermediate are not kept: the chain is valid for
    /// decades, so nothing needs them again, and a key that is not on disk cannot sign anything else.
    /// - Throws: ``SimulatedAuthorityError``, also for a chain of other than three certificates.
    public func save(to directory: String) throws {
        guard chain.count == Self.certificateFiles.count, case .p256(let key) = chain[0].key else {
            throw SimulatedAuthorityError(message: "Only a chain of leaf, intermediate and root can be saved.")
        }
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            throw SimulatedAuthorityError(message: "Cannot make the directory \(directory): \(Self.reason()).")
        }
        // The key first: a directory with certificates but no key would be taken for a broken one later.
        try Self.store(key.pemRepresentation, to: directory + "/" + Self.keyFile, mode: 0o600)
        for (certificate, name) in zip(chain, Self.certificateFiles) {
            let document = PEMDocument(type: "CERTIFICATE", derBytes: certificate.der)
            try Self.store(document.pemString, to: directory + "/" + name, mode: 0o644)
        }
        try saveRoot(to: directory)
    }

    /// The root once more as DER, which is how Apple hands out its own and how Apple's libraries take one.
    private func saveRoot(to directory: String) throws {
        try Self.store(chain[2].der, to: directory + "/" + Self.rootFile, mode: 0o644)
    }

    /// Reads what ``save(to:)`` wrote.
    ///
    /// - Throws: ``SimulatedAuthorityError`` naming the file that is missing or not what it should be.
    public static func load(from directory: String) throws -> SimulatedAuthority {
        let keyPath = directory + "/" + keyFile
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: contents(keyPath)) else {
            throw SimulatedAuthorityError(
                message: "\(keyPath) holds no P-256 key in PEM; remove the directory.")
        }
        let shapes: [CertificateShape] = [.leaf, .intermediate, .root]
        var chain: [SimulatedCertificate] = []
        for (name, shape) in zip(certificateFiles, shapes) {
            let path = directory + "/" + name
            let text = try contents(path)
            guard let document = try? PEMDocument(pemString: text),
                let certificate = try? Certificate(derEncoded: document.derBytes)
            else {
                throw SimulatedAuthorityError(message: "\(path) holds no certificate in PEM; remove the directory.")
            }
            guard !chain.isEmpty || certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
                throw SimulatedAuthorityError(message: "\(path) is not of the key beside it; remove the directory.")
            }
            // Only the leaf signs; the authorities' keys are gone, so a key of its own kind stands in for them.
            chain.append(
                SimulatedCertificate(
                    der: document.derBytes, shape: shape,
                    key: chain.isEmpty ? .p256(key) : try SimulatedKey(shape.curve), certificate: certificate))
        }
        return try SimulatedAuthority(chain: chain)
    }

    /// Reads the authority in the directory, or makes one and saves it there if the directory has none.
    public static func loadOrGenerate(in directory: String) throws -> SimulatedAuthority {
        if access(directory + "/" + keyFile, F_OK) == 0 {
            let authority = try load(from: directory)
            // An earlier release wrote none.
            if access(directory + "/" + rootFile, F_OK) != 0, access(directory, W_OK) == 0 {
                try authority.saveRoot(to: directory)
            }
            return authority
        }
        let authority = try generate()
        try authority.save(to: directory)
        return authority
    }

    private static func store(_ text: String, to path: String, mode: UInt32) throws {
        try store(Array(text.utf8), to: path, mode: mode)
    }

    private static func store(_ bytes: [UInt8], to path: String, mode: UInt32) throws {
        do throws(DraftFile.Fault) {
            let draft = try DraftFile(path, mode: mode)
            try draft.append(bytes)
            try draft.commit()
        } catch {
            throw SimulatedAuthorityError(message: "The simulator's certificates: \(error).")
        }
    }

    private static func contents(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw SimulatedAuthorityError(message: "Cannot read \(path): \(reason()).")
        }
        defer { close(descriptor) }
        // A PEM file of ours is under 2 kB; a longer one is not ours.
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var length = 0
        while length < bytes.count {
            let start = length
            let count = bytes.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
            }
            guard count >= 0 else { throw SimulatedAuthorityError(message: "Cannot read \(path): \(reason()).") }
            if count == 0 { break }
            length += count
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
