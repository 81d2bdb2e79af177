import Crypto
import Foundation

/// What an app's developer would have from Apple: made once in a directory, and used again.
public struct StandInAccess: Sendable {
    /// The team's issuer id.
    public let issuerId: String
    /// The key's id.
    public let keyId: String
    /// Where the `.p8` file is; its owner alone can read it, as everything secret here.
    public let privateKeyFile: String
    /// The app's shared secret for old receipts.
    public let sharedSecret: String
    /// All of that as `STOREHOOK_APPLE_KEYS` takes it.
    public let keysFile: String
    /// Signs for Apple.
    public let authority: SimulatedAuthority

    let publicKeyPEM: String

    /// Reads what is in the directory, or makes it.
    ///
    /// - Parameter bundleId: the app that the keys are for.
    /// - Throws: `SimulatedAuthorityError`, `DraftFile.Fault`, or what the file system says.
    public init(directory: String, bundleId: String = SimulatedApp.example.bundleId) throws {
        authority = try SimulatedAuthority.loadOrGenerate(in: directory)
        issuerId = "5f6f2d3a-8b1e-4c47-9a50-57a4d1000001"
        keyId = "STANDIN001"
        let keyName = "AuthKey_\(keyId).p8"
        privateKeyFile = directory + "/" + keyName
        if FileManager.default.fileExists(atPath: privateKeyFile) {
            let text = try String(contentsOfFile: privateKeyFile, encoding: .utf8)
            publicKeyPEM = try P256.Signing.PrivateKey(pemRepresentation: text).publicKey.pemRepresentation
        } else {
            let key = P256.Signing.PrivateKey()
            publicKeyPEM = key.publicKey.pemRepresentation
            try Self.write(key.pemRepresentation + "\n", to: privateKeyFile)
        }
        // Of the key's fingerprint: the same as long as the directory stands.
        let digest = SHA256.hash(data: Data(publicKeyPEM.utf8))
        sharedSecret = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        keysFile = directory + "/keys.yaml"
        try Self.write(sharedSecret + "\n", to: directory + "/shared-secret")
        try Self.write(
            """
            \(bundleId):
              issuer_id: \(issuerId)
              key_id: \(keyId)
              private_key_file: \(keyName)
              shared_secret_file: shared-secret

            """, to: keysFile)
    }

    private static func write(_ text: String, to path: String) throws {
        let file = try DraftFile(path, mode: 0o600)
        try file.append(Array(text.utf8))
        try file.commit()
    }
}
