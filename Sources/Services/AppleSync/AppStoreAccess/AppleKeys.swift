package import AppStoreServerAPI
import Base
import Foundation
import Yams

/// What the operator has given to ask Apple with, app by app.
package struct AppleKeys: Sendable {
    /// One app's.
    package struct App: Sendable {
        /// The app.
        package let bundleId: String
        /// For the App Store Server API; nil where there is only a shared secret.
        package let credentials: Credentials?
        /// For old receipts.
        package let sharedSecret: SharedSecret?
    }

    /// Why they cannot be used: which setting, and what to do. Never what it says.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        /// One line.
        package let description: String

        /// A fault of this line.
        package init(description: String) { self.description = description }
    }

    /// By bundle id.
    package let apps: [String: App]

    private static let names: Set<String> = ["issuer_id", "key_id", "private_key_file", "shared_secret_file"]

    /// Reads the file of `STOREHOOK_APPLE_KEYS` and those that it names, which are beside it unless their paths are absolute.
    package init(file: String) throws(Fault) {
        let text: String
        do {
            text = String(decoding: try PlainFile(file, upTo: 1 << 20).bytes, as: UTF8.self)
        } catch {
            throw Fault(description: "STOREHOOK_APPLE_KEYS: \(file) \(error.predicate)")
        }
        guard let root = try? Yams.compose(yaml: text),
            let mapping = root.mapping, !mapping.isEmpty
        else {
            // What the parser says may quote the file, which may hold a key by mistake.
            throw Fault(
                description:
                    "\(file) is not YAML with a member for each app, like com.example.app: {issuer_id: …, key_id: …, "
                    + "private_key_file: …}")
        }
        let directory = URL(fileURLWithPath: file).deletingLastPathComponent()
        var apps: [String: App] = [:]
        for (key, value) in mapping {
            guard let bundleId = key.string, let members = value.mapping else {
                throw Fault(description: "\(file): an app is a bundle id with members")
            }
            apps[bundleId] = try Self.app(bundleId, members, file, directory)
        }
        self.apps = apps
    }

    /// The shared secret of a single app that has no key, out of a variable.
    package init(bundleId: String, sharedSecret: String) throws(Fault) {
        apps = [
            bundleId: App(
                bundleId: bundleId, credentials: nil, sharedSecret: try Self.secret(inVariable: sharedSecret))
        ]
    }

    /// The key of a single app, out of variables.
    ///
    /// - Parameter privateKey: base64 of the .p8 file.
    package init(
        bundleId: String, issuerId: String, keyId: String, privateKey: String, sharedSecret: String?
    ) throws(Fault) {
        // base64 breaks its lines, and some shells keep them.
        let packed = String(privateKey.filter { !$0.isWhitespace })
        guard let data = Data(base64Encoded: packed) else {
            throw Fault(description: "APPLE_PRIVATE_KEY is not the base64 of a .p8 file; type: base64 -w0 AuthKey_….p8")
        }
        var secret: SharedSecret?
        if let sharedSecret { secret = try Self.secret(inVariable: sharedSecret) }
        let key = try Self.key(String(decoding: data, as: UTF8.self), "APPLE_PRIVATE_KEY")
        apps = [
            bundleId: App(
                bundleId: bundleId,
                credentials: Credentials(bundleId: bundleId, issuerId: issuerId, keyId: keyId, key: key),
                sharedSecret: secret)
        ]
    }

    private static func secret(inVariable text: String) throws(Fault) -> SharedSecret {
        guard let secret = SharedSecret(text) else {
            throw Fault(description: "APPLE_SHARED_SECRET is not one word")
        }
        return secret
    }

    private static func app(
        _ bundleId: String, _ members: Node.Mapping, _ file: String, _ directory: URL
    ) throws(Fault) -> App {
        var texts: [String: String] = [:]
        for (key, value) in members {
            // As it is written: a key id of digits alone is a text, too.
            guard let name = key.string, names.contains(name), let text = value.scalar?.string, !text.isEmpty else {
                throw Fault(
                    description: "\(file): \(bundleId) takes \(names.sorted().joined(separator: ", ")), each one text")
            }
            texts[name] = text
        }
        let credentials = try credentials(bundleId, texts, file, directory)
        guard credentials != nil || texts["shared_secret_file"] != nil else {
            throw Fault(
                description:
                    "\(file): \(bundleId) needs issuer_id, key_id and private_key_file, or a shared_secret_file for receipts "
                    + "alone")
        }
        var sharedSecret: SharedSecret?
        if let secretFile = texts["shared_secret_file"].map({ path($0, directory) }) {
            guard let one = SharedSecret(try secret(secretFile)) else {
                throw Fault(description: "\(secretFile) does not hold one word, the app's shared secret")
            }
            sharedSecret = one
        }
        return App(bundleId: bundleId, credentials: credentials, sharedSecret: sharedSecret)
    }

    /// The key; nil where nothing of it is there.
    private static func credentials(
        _ bundleId: String, _ texts: [String: String], _ file: String, _ directory: URL
    ) throws(Fault) -> Credentials? {
        let (issuerId, keyId, keyFile) = (texts["issuer_id"], texts["key_id"], texts["private_key_file"])
        if issuerId == nil, keyId == nil, keyFile == nil { return nil }
        guard let issuerId, let keyId, let keyFile else {
            throw Fault(description: "\(file): \(bundleId) needs issuer_id, key_id and private_key_file")
        }
        let keyPath = path(keyFile, directory)
        return Credentials(
            bundleId: bundleId, issuerId: issuerId, keyId: keyId, key: try key(try secret(keyPath), keyPath))
    }

    private static func path(_ text: String, _ directory: URL) -> String {
        text.hasPrefix("/") ? text : directory.appending(path: text).path
    }

    private static func secret(_ path: String) throws(Fault) -> String {
        do throws(SecretFile.Fault) {
            return try SecretFile.read(path)
        } catch {
            throw Fault(description: error.description)
        }
    }

    private static func key(_ pem: String, _ place: String) throws(Fault) -> SigningKey {
        do throws(SigningKey.Fault) {
            return try SigningKey(pem: pem)
        } catch {
            throw Fault(description: "\(place): \(error.rawValue)")
        }
    }
}
