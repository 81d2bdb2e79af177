import Crypto
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file in which a shop is kept: lines of JSON that are only ever added, and read in their order at the next start.
///
/// - The first line names the version. The others are rows; a batch that is saved at once ends with a row `saved`.
/// - Saved rows are on the disk before any client sees their content. Rows without a `saved` after them, or half a
///   line, are left by a kill or a power cut. They are not read: no client has seen them.
/// - Once the file is twice as long as the shop itself, the shop is written to a new file that then replaces it. So a
///   file that does not hold a whole shop is damaged.
final class StateFile {
    typealias Fault = StandInFault

    private static let name = "storehook app-store, state"
    /// Raised with every change that older files do not have, or that older programs cannot read. 1 and 2 were no JSON lines.
    private static let version = 3
    private static let newline = UInt8(ascii: "\n")
    /// So much longer than the shop a file may be before it is worth writing it anew.
    private static let slack = 1 << 20

    private let path: String
    /// Lets one process use the file. It is held on a file beside it, which stays while this one is replaced, and ends with the process.
    private let lock: Int32
    /// Nil until the file is rewritten, and after a write that failed and may have left half a line: nothing may follow that.
    private var descriptor: Int32?
    private var length = 0
    /// How long it was when it held the shop and nothing else.
    private var wholeLength = 0
    /// Of all rows so far.
    private var digest = SHA256()

    /// Takes a file for this process, and hands over its rows; a file that is not there has none. It is to be rewritten before
    /// anything is added.
    ///
    /// - Throws: ``Fault``, also where another stand-in uses it, where it is damaged or of another version.
    init(_ path: String, _ take: (StateRow) throws -> Void) throws {
        self.path = path
        lock = try Self.lock(path)
        // From here on deinit lets go of the lock.
        if FileManager.default.fileExists(atPath: path) { try Self.read(path, take) }
    }

    deinit {
        if let descriptor { close(descriptor) }
        close(lock)
    }

    private static func lock(_ path: String) throws(Fault) -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Fault(description: "cannot write beside \(path): \(reason())") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Fault(
                description: "\(path) is in use by another storehook app-store; stop that one, or name another file")
        }
        return lock
    }

    // MARK: - Writing

    /// Whether it is worth writing it anew.
    var isLong: Bool { length > 2 * wholeLength + Self.slack }

    /// Adds rows; they are on the disk when this returns.
    func append(_ rows: [StateRow]) throws {
        guard let descriptor else { throw Fault(description: "\(path) could not be written before") }
        var bytes: [UInt8] = []
        for row in rows { bytes += try Self.line(row, &digest) }
        bytes += try Self.lastLine(digest)
        guard DraftFile.append(bytes, to: descriptor), fdatasync(descriptor) == 0 else {
            let reason = Self.reason()
            close(descriptor)
            self.descriptor = nil
            throw Fault(description: "cannot write \(path): \(reason)")
        }
        length += bytes.count
    }

    /// Puts a file of these rows alone in its place.
    func rewrite(_ rows: (_ add: (StateRow) throws -> Void) throws -> Void) throws {
        var digest = SHA256()
        var count = 0
        let fresh: Int32
        do {
            let draft = try DraftFile(path, mode: 0o600)
            func append(_ line: [UInt8]) throws {
                try draft.append(line)
                count += line.count
            }
            do {
                try append(Array("{\"\(Self.name)\":\(Self.version)}\n".utf8))
                try rows { try append(Self.line($0, &digest)) }
                try append(Self.lastLine(digest))
            } catch {
                draft.discard()
                throw error
            }
            fresh = try draft.commitOpen()
        } catch let fault as DraftFile.Fault {
            throw Fault(description: fault.description)
        }
        if let descriptor { close(descriptor) }
        descriptor = fresh
        (length, wholeLength) = (count, count)
        self.digest = digest
    }

    private static func line(_ row: StateRow, _ digest: inout SHA256) throws -> [UInt8] {
        let line = try line(row)
        digest.update(data: line)
        return line
    }

    private static func lastLine(_ digest: SHA256) throws -> [UInt8] { try line(StateRow(saved: text(digest))) }

    private static func line(_ row: StateRow) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return Array(try encoder.encode(row)) + [newline]
    }

    /// Sixteen hexadecimal digits: against disks and editors, not against people.
    private static func text(_ digest: SHA256) -> String {
        digest.finalize().prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: - Reading

    private static func read(_ path: String, _ take: (StateRow) throws -> Void) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault(description: "cannot read \(path)")
        }
        let bytes = [UInt8](data)
        var position = try firstLine(bytes, path)
        let decoder = JSONDecoder()
        var digest = SHA256()
        var rows: [StateRow] = []
        var isWhole = false
        while let end = bytes[position...].firstIndex(of: newline) {
            guard let row = try? decoder.decode(StateRow.self, from: Data(bytes[position..<end])) else {
                throw damaged(path, position)
            }
            if let saved = row.saved {
                guard saved == text(digest) else { throw damaged(path, position) }
                isWhole = true
                try rows.forEach(take)
                rows = []
            } else {
                digest.update(data: bytes[position...end])
                rows.append(row)
            }
            position = end + 1
        }
        guard isWhole else { throw damaged(path, position) }
    }

    /// Where the first row begins.
    ///
    /// - Throws: ``Fault`` where the file is of another version, or something else.
    private static func firstLine(_ bytes: [UInt8], _ path: String) throws(Fault) -> Int {
        let line = bytes.prefix(80).prefix { $0 != newline }
        // 1 and 2 had the same words, and the number behind them.
        let words = String(decoding: line, as: UTF8.self).filter { !"{\":}".contains($0) }
        guard words.hasPrefix(name) else {
            throw Fault(description: "\(path) is no state of storehook app-store; name another file with --state")
        }
        let version = words.dropFirst(name.count).filter { $0 != " " }
        guard version == "\(Self.version)" else {
            throw Fault(
                description:
                    "\(path) is of version \(version), and this storehook reads \(Self.version); name "
                    + "another file with --state, or use the storehook that wrote it")
        }
        return min(line.count + 1, bytes.count)
    }

    private static func damaged(_ path: String, _ position: Int) -> Fault {
        Fault(
            description:
                "\(path) is damaged at byte \(position); put a copy in its place, or name another file with --state")
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
