import Base
import Foundation

/// A file of settings, as systemd (`EnvironmentFile=`), docker (`--env-file`), compose and shells have them.
///
/// A line is `NAME=value` or `export NAME=value`, empty, or a comment that begins with `#` or `;`. Lines may end with CR LF, and the
/// file may begin with a byte order mark. Of two lines for one name the later one counts. Every other line is refused with its
/// number: each of those readers takes it in another way. See ``SettingValue`` for the values.
enum SettingsFile {
    /// Why a line is refused. It never repeats the line, which may hold a secret.
    struct Fault: Error, Hashable {
        /// Counted from 1.
        let line: Int
        let message: String
    }

    /// More than any file of settings has.
    private static let limit = 1 << 20

    /// Reads a file; a pipe will do.
    /// - Returns: the values as they stand; ``SettingValue`` can read each.
    /// - Throws: `CommandFailure`, with file and line.
    static func read(_ path: String) throws -> [String: String] {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: limit + 1) else {
            throw CommandFailure.unreadable(path, "the configuration file ")
        }
        guard data.count <= limit else {
            throw CommandFailure(
                "the configuration file \(path) has more than a MiB; name a file of NAME=value lines", status: .usage)
        }
        do throws(Fault) {
            return try parse(Array(data))
        } catch {
            throw CommandFailure("\(path):\(error.line): \(error.message)", status: .usage)
        }
    }

    /// Reads what stands in a file.
    static func parse(_ bytes: [UInt8]) throws(Fault) -> [String: String] {
        var values: [String: String] = [:]
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (place, line) in lines.enumerated() {
            guard let line = String(validating: line, as: UTF8.self) else {
                throw Fault(line: place + 1, message: "it is not UTF-8; save the file as UTF-8")
            }
            // A byte order mark is taken off as white space is.
            if let (name, value) = try setting(SettingValue.trimmed(line), place + 1) { values[name] = value }
        }
        return values
    }

    /// - Parameter line: without the white space around it.
    /// - Returns: nil where the line says nothing.
    private static func setting(_ line: String, _ number: Int) throws(Fault) -> (name: String, value: String)? {
        guard let first = line.unicodeScalars.first, first != "#", first != ";" else { return nil }
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var name = SettingValue.trimmed(parts[0])
        if let match = name.prefixMatch(of: /export[ \t]+/) { name = String(name[match.range.upperBound...]) }
        guard parts.count == 2, name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
            throw Fault(
                line: number,
                message: "it is neither NAME=value nor a comment; write one of them, a comment with # before it")
        }
        let value = String(parts[1])
        guard !value.hasSuffix("\\") else {
            throw Fault(
                line: number,
                message: "\(name): a line does not go on behind a backslash; write the value on one line")
        }
        do throws(SettingValue.Fault) {
            _ = try SettingValue.read(value, lines: Settings.inSeveralLines.contains(name))
        } catch {
            throw Fault(line: number, message: "\(name): \(error)")
        }
        return (name, value)
    }
}
