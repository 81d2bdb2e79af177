import Foundation
import Testing

/// The repository's sources, as texts.
enum ClientSources {
    /// The text of all files of a folder of the repository.
    static func texts(_ path: String) throws -> [String] {
        let own = URL(filePath: #filePath).resolvingSymlinksInPath()
        let root = (0..<4).reduce(own) { url, _ in url.deletingLastPathComponent() }
        let folder = root.appending(path: path)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            try String(contentsOf: $0, encoding: .utf8)
        }
    }
}
