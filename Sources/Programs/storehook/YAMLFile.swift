import Base
import Foundation

/// A file in YAML that an operator writes.
enum YAMLFile {
    /// Its text. Of a file that is too long, just enough is read for the parser to refuse it as too long.
    static func read(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure.unreadable(path)
        }
        defer { try? file.close() }
        var data = Data()
        do {
            while data.count <= YAMLText.longest, let more = try file.read(upToCount: 1 << 16), !more.isEmpty {
                data.append(more)
            }
        } catch {
            throw CommandFailure.unreadable(path)
        }
        guard data.count > YAMLText.longest || String(validating: data, as: UTF8.self) != nil else {
            throw CommandFailure("\(path) is not text in UTF-8; save it as UTF-8", status: .usage)
        }
        return String(decoding: data, as: UTF8.self)
    }
}
