import AppStoreServerAPI
import AppleSync
import Crypto
import Foundation
import Testing

@Suite("The keys for Apple")
struct AppleKeysTests {
    private static let pem = P256.Signing.PrivateKey().pemRepresentation

    /// A directory with files, each with its mode, while `body` runs.
    private func withFiles<T>(_ files: [(String, String, Int)], _ body: (URL) throws -> T) throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, text, mode) in files {
            let path = directory.appending(path: name).path
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        return try body(directory)
    }

    private static let yaml = """
        com.example.app:
          issuer_id: 57246542-96fe-1a63-e053-0824d011072a
          key_id: 1234567890
          private_key_file: AuthKey.p8
          shared_secret_file: secret
        """

    @Test("are read app by app, with the files beside them")
    func read() throws {
        try withFiles([
            ("keys.yaml", Self.yaml, 0o644), ("AuthKey.p8", Self.pem, 0o600), ("secret", "abc123\n", 0o400),
        ]) { directory in
            let keys = try AppleKeys(file: directory.appending(path: "keys.yaml").path)
            let app = try #require(keys.apps["com.example.app"])
            #expect(app.credentials?.keyId == "1234567890" && app.sharedSecret?.text == "abc123")
            var text = String(reflecting: keys)
            dump(keys, to: &text)
            for line in Self.pem.split(separator: "\n").dropFirst().dropLast() { #expect(!text.contains(line)) }
            #expect(!text.contains("abc123"))
        }
    }

    @Test(
        "are refused in a file that others can read, with what to type", arguments: [0o644, 0o640, 0o604, 0o660, 0o601])
    func readableByOthers(_ mode: Int) throws {
        for name in ["AuthKey.p8", "secret"] {
            try withFiles([
                ("keys.yaml", Self.yaml, 0o600), ("AuthKey.p8", Self.pem, name == "AuthKey.p8" ? mode : 0o600),
                ("secret", "abc123", name == "secret" ? mode : 0o600),
            ]) { directory in
                let fault = #expect(throws: AppleKeys.Fault.self) {
                    _ = try AppleKeys(file: directory.appending(path: "keys.yaml").path)
                }
                let path = directory.appending(path: name).path
                #expect(fault?.description == "\(path) can be read by others; type: chmod 600 \(path)")
            }
        }
    }

    @Test(
        "are refused with the file's name and without what it says",
        arguments: [
            "", "hunter2", "- a", "com.example.app: hunter2", "com.example.app: {issuer_id: hunter2}",
            "com.example.app: {issuer_id: a, key_id: b, private_key: hunter2}", "{: [", "com.example.app: [hunter2]",
            "com.example.app: {issuer_id: a, key_id: b, private_key_file: hunter2.p8, x: 1}",
            "com.example.app: {issuer_id: a, key_id: [hunter2], private_key_file: c}",
            "com.example.app: {issuer_id: a, key_id: b, private_key_file: keys.yaml}",
        ])
    func bad(_ yaml: String) throws {
        try withFiles([("keys.yaml", yaml, 0o600)]) { directory in
            let fault = #expect(throws: AppleKeys.Fault.self) {
                _ = try AppleKeys(file: directory.appending(path: "keys.yaml").path)
            }
            #expect(fault?.description.contains("keys.yaml") == true)
            #expect(fault?.description.contains("hunter2") == false)
        }
    }

    @Test("may be a shared secret alone, for receipts; half a key beside it is refused")
    func secretAlone() throws {
        let yaml = "com.example.app:\n  shared_secret_file: secret\n"
        for (text, isRead) in [(yaml, true), (yaml + "  key_id: hunter2\n", false)] {
            try withFiles([("keys.yaml", text, 0o600), ("secret", "abc123", 0o600)]) { directory in
                let file = directory.appending(path: "keys.yaml").path
                guard isRead else {
                    let fault = #expect(throws: AppleKeys.Fault.self) { _ = try AppleKeys(file: file) }
                    #expect(fault?.description.contains("private_key_file") == true)
                    return
                }
                let app = try #require(try AppleKeys(file: file).apps["com.example.app"])
                #expect(app.credentials == nil && app.sharedSecret?.text == "abc123")
            }
        }
        let single = try AppleKeys(bundleId: "com.example.app", sharedSecret: " abc123\n")
        #expect(single.apps["com.example.app"]?.sharedSecret?.text == "abc123")
        let fault = #expect(throws: AppleKeys.Fault.self) {
            _ = try AppleKeys(bundleId: "com.example.app", sharedSecret: "hunter2 hunter3")
        }
        #expect(fault?.description == "APPLE_SHARED_SECRET is not one word")
    }

    @Test("of a single app come out of variables, in base64, with the line ends that base64 makes")
    func variables() throws {
        let packed = Data(Self.pem.utf8).base64EncodedString(options: .lineLength76Characters)
        let keys = try AppleKeys(
            bundleId: "com.example.app", issuerId: "i", keyId: "k", privateKey: packed, sharedSecret: "s")
        #expect(keys.apps.keys.sorted() == ["com.example.app"])
        for bad in [
            "", "%%%", "aHVudGVyMg==", Data(P384.Signing.PrivateKey().pemRepresentation.utf8).base64EncodedString(),
        ] {
            let fault = #expect(throws: AppleKeys.Fault.self) {
                _ = try AppleKeys(
                    bundleId: "com.example.app", issuerId: "i", keyId: "k", privateKey: bad, sharedSecret: nil)
            }
            #expect(fault?.description.contains("APPLE_PRIVATE_KEY") == true)
            #expect(fault?.description.contains("hunter2") == false)
        }
    }
}
