import Crypto
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file in which a shop is kept: changes one after the other, each a line with its checksum.
///
/// A change costs what it is long, however large the shop. A line is on the disk before anybody learns of what is in it. Once the
/// file is twice as long as the shop itself, it is written anew as a whole, beside itself and then in its place. What a kill or a
/// power cut leaves of a last line is not read: nobody had learned of it. What was written as a whole ends with a mark, without
/// which a file is damaged: that part was all on the disk before it took its place.
final class StateFile {
    typealias Fault = StandInFault

    private static let name = "storehook app-store, state "
    /// Raised with every change that older files do not have, or that older programs cannot read. 1 kept the loss as well, and
    /// had no mark.
    private static let version = 2
    private static let firstLine = opening(version)
    private static let newline = UInt8(ascii: "\n")
    /// So much longer than the shop a file may be before it is worth writing it anew.
    private static let slack = 1 << 20

    private let path: String
    /// One stand-in a file: of a file beside it, which stays while this one is replaced. It ends with the process, however that
    /// ends.
    private let lock: Int32
    /// Nil until it is rewritten, and after a write that failed and may have left half a line: nothing may follow that.
    private var descriptor: Int32?
    private var length = 0
    /// How long it was when it held the shop and nothing else.
    private var wholeLength = 0
    /// The last line's.
    private var checksum: [UInt8] = []

    /// Takes a file for this process, and hands over its changes; a file that is not there has none. It is to be rewritten
    /// before anything is added.
    ///
    /// - Throws: ``Fault``, also where another stand-in uses it, where it is damaged or of another version.
    init(_ path: String, _ take: (StateChange) throws -> Void) throws {
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

    /// Whether it is worth writing it anew.
    var isLong: Bool { length > 2 * wholeLength + Self.slack }

    /// Adds a change; it is on the disk when this returns.
    func append(_ change: StateChange) throws {
        guard let descriptor else { throw Fault(description: "\(path) could not be written before") }
        let (line, checksum) = try Self.line(change, after: checksum)
        guard DraftFile.append(line, to: descriptor), fdatasync(descriptor) == 0 else {
            let reason = Self.reason()
            close(descriptor)
            self.descriptor = nil
            throw Fault(description: "cannot write \(path): \(reason)")
        }
        length += line.count
        self.checksum = checksum
    }

    /// Puts a file of these changes alone in its place.
    func rewrite(_ changes: (_ add: (StateChange) throws -> Void) throws -> Void) throws {
        let draft = try Self.draft(path)
        var count = Self.firstLine.count
        var last: [UInt8] = []
        func add(_ change: StateChange) throws {
            let (line, checksum) = try Self.line(change, after: last)
            count += line.count
            last = checksum
            try draft.append(line)
        }
        do {
            try changes(add)
            try add(StateChange(isWhole: true))
        } catch {
            draft.discard()
            throw (error as? DraftFile.Fault).map { Fault(description: $0.description) } ?? error
        }
        let fresh = try Self.commit(draft)
        if let descriptor { close(descriptor) }
        descriptor = fresh
        length = count
        wholeLength = count
        checksum = last
    }

    private static func draft(_ path: String) throws(Fault) -> DraftFile {
        do throws(DraftFile.Fault) {
            let draft = try DraftFile(path, mode: 0o600)
            try draft.append(firstLine)
            return draft
        } catch {
            throw Fault(description: error.description)
        }
    }

    private static func commit(_ draft: DraftFile) throws -> Int32 {
        do {
            return try draft.commitOpen()
        } catch {
            throw Fault(description: "\(error)")
        }
    }

    // MARK: - Lines

    private static func line(
        _ change: StateChange, after last: [UInt8]
    ) throws -> (line: [UInt8], checksum: [UInt8]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let text = Array(try encoder.encode(change))
        let checksum = checksum(text[...], after: last)
        return (checksum + [UInt8(ascii: " ")] + text + [newline], checksum)
    }

    /// Sixteen hexadecimal digits of SHA-256 over the line and the checksum before it, so that no line can be missing: against disks
    /// and editors, not against people.
    private static func checksum(_ text: ArraySlice<UInt8>, after last: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: last)
        hash.update(data: text)
        let digits = Array("0123456789abcdef".utf8)
        return hash.finalize().prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Reads all lines but what was not finished of those that were added to the whole.
    private static func read(_ path: String, _ take: (StateChange) throws -> Void) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault(description: "cannot read \(path)")
        }
        let bytes = [UInt8](data)
        try requireVersion(bytes, path)
        var position = firstLine.count
        let decoder = JSONDecoder()
        var last: [UInt8] = []
        var isWhole = false
        while let end = bytes[position...].firstIndex(of: newline) {
            let text = bytes[position..<end].dropFirst(17)
            let checksum = checksum(text, after: last)
            guard end - position > 17, checksum == Array(bytes[position..<position + 16]) else {
                throw damaged(path, position)
            }
            last = checksum
            do {
                let change = try decoder.decode(StateChange.self, from: Data(text))
                isWhole = isWhole || change.isWhole == true
                try take(change)
            } catch let fault as Fault {
                throw fault
            } catch {
                throw damaged(path, position)
            }
            position = end + 1
        }
        // Of version 1 it can be said only that a shop begins with how it stands.
        guard isWhole || !last.isEmpty && bytes.starts(with: opening(1)) else { throw damaged(path, position) }
    }

    /// The first line of a version, one as long as another.
    private static func opening(_ version: Int) -> [UInt8] { Array("\(name)\(version)\n".utf8) }

    private static func requireVersion(_ bytes: [UInt8], _ path: String) throws(Fault) {
        if (1...version).contains(where: { bytes.starts(with: opening($0)) }) { return }
        let line = String(decoding: bytes.prefix(80).prefix { $0 != newline }, as: UTF8.self)
        guard line.hasPrefix(name) else {
            throw Fault(description: "\(path) is no state of storehook app-store; name another file with --state")
        }
        throw Fault(
            description:
                "\(path) is of version \(line.dropFirst(name.count)), and this storehook reads \(version); name "
                + "another file with --state, or use the storehook that wrote it")
    }

    private static func damaged(_ path: String, _ position: Int) -> Fault {
        Fault(
            description:
                "\(path) is damaged at byte \(position); put a copy in its place, or name another file with --state")
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
