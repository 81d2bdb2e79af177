import Foundation
import Testing

/// The repository's sources, as texts.
enum ClientSources {
    /// Where something of the repository is.
    static func url(_ path: String) -> URL {
        if let package = ProcessInfo.processInfo.environment["STOREHOOK_TEST_PACKAGE"] {
            return URL(filePath: package).appending(path: path)
        }
        let own = URL(filePath: #filePath).resolvingSymlinksInPath()
        return (0..<4).reduce(own) { url, _ in url.deletingLastPathComponent() }.appending(path: path)
    }

    /// The text of all files of a folder of the repository.
    static func texts(_ path: String) throws -> [String] {
        let files = try #require(FileManager.default.enumerator(at: url(path), includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            try String(contentsOf: $0, encoding: .utf8)
        }
    }

    /// What is public, as the kept API dump names it: types, and types with a member (`State.status`).
    static func published() throws -> Set<String> {
        let data = try Data(contentsOf: url("Tests/ClientPackageTests/StorehookClient.api.json"))
        let dump = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var names: Set<String> = []
        func read(_ node: [String: Any], in owner: String?) {
            let name = node["declKind"] == nil ? nil : node["name"] as? String
            if let name { names.insert([owner, name].compactMap(\.self).joined(separator: ".")) }
            if let name, node["kind"] as? String == "TypeDecl" { names.insert(name) }
            for child in node["children"] as? [[String: Any]] ?? [] { read(child, in: name ?? owner) }
        }
        read(try #require(dump["ABIRoot"] as? [String: Any]), in: nil)
        return names
    }
}
