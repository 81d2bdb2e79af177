import APIKit
import Crypto
import HTTPTypes

/// What browsers fetch beside the pages: style, script, picture. The same for everybody.
struct StaticFiles: Sendable {
    /// What changes with any of them: pages name it, so that browsers may keep the files for good.
    let version: String
    private let files: [String: (type: String, bytes: [UInt8])]

    /// Their types, by name.
    private static let types = [
        "console.css": "text/css; charset=utf-8", "console.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml",
    ]

    /// Those among the embedded files.
    init(_ embedded: [String: String]) {
        var files: [String: (type: String, bytes: [UInt8])] = [:]
        var all = SHA256()
        for (name, type) in Self.types.sorted(by: { $0.key < $1.key }) {
            let bytes = Array((embedded[name] ?? "").utf8)
            files[name] = (type, bytes)
            all.update(data: bytes)
        }
        self.files = files
        version = all.finalize().prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Their names.
    var names: [String] { files.keys.sorted() }

    /// A file.
    /// - Parameter asked: the version that is asked for: the present one is kept by browsers.
    func answer(_ name: String, version asked: String?) -> APIAnswer {
        guard let file = files[name] else { return APIAnswer(.notFound, nil) }
        let keeping = asked == version ? "public, max-age=31536000, immutable" : "no-cache"
        return APIAnswer(bytes: file.bytes, contentType: file.type, headers: [.cacheControl: keeping])
    }
}
