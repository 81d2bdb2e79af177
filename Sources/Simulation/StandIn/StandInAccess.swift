import Crypto
import Foundation
public import Simulator

/// What an app's developer would have from Apple: made once in a directory, and used again.
public struct StandInAccess: Sendable {
    /// The team's issuer id.
    public let issuerId: String
    /// The key's id.
    public let keyId: String
    /// Where the `.p8` file is; its owner alone can read it.
    public let privateKeyFile: String
    /// The app's shared secret for old receipts.
    public let sharedSecret: String
    /// Signs for Apple.
    public let authority: SimulatedAuthority

    let publicKeyPEM: String

    /// Reads what is in the directory, or makes it.
    ///
    /// - Throws: `SimulatedAuthorityError`, or what the file system says.
    public init(directory: String) throws {
        authority = try SimulatedAuthority.loadOrGenerate(in: directory)
        issuerId = "5f6f2d3a-8b1e-4c47-9a50-57a4d1000001"
        keyId = "STANDIN001"
        privateKeyFile = directory + "/AuthKey_\(keyId).p8"
        if FileManager.default.fileExists(atPath: privateKeyFile) {
            let text = try String(contentsOfFile: privateKeyFile, encoding: .utf8)
            publicKeyPEM = try P256.Signing.PrivateKey(pemRepresentation: text).publicKey.pemRepresentation
        } else {
            let key = P256.Signing.PrivateKey()
            publicKeyPEM = key.publicKey.pemRepresentation
            guard
                FileManager.default.createFile(
                    atPath: privateKeyFile, contents: Data((key.pemRepresentation + "\n").utf8),
                    attributes: [.posixPermissions: 0o600])
            else { throw SimulatedAuthorityError(message: "Cannot write \(privateKeyFile).") }
        }
        // Of the key's fingerprint: the same as long as the directory stands.
        let digest = SHA256.hash(data: Data(publicKeyPEM.utf8))
        sharedSecret = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
