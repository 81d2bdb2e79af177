import Foundation
import Glibc
import Monitoring
import Synchronization
import TestSupport
import Testing

@Suite("Lines for a descriptor whose reader may stand still")
struct LineWriterTests {
    private func writer(_ pipe: LogPipe, room: Int = 10_000) -> LineWriter {
        LineWriter(to: pipe.writing, room: room) { "dropped \($0)\n" }
    }

    /// The numbers of the lines, and what is said of those that are missing, in the order of writing.
    private func numbers(_ text: String) throws -> (lines: [Int], notes: [(after: Int, count: Int)]) {
        var lines: [Int] = []
        var notes: [(after: Int, count: Int)] = []
        for line in text.split(separator: "\n") where !line.hasPrefix(".") {
            if line.hasPrefix("dropped ") {
                notes.append((lines.last ?? -1, try #require(Int(line.dropFirst(8)))))
            } else {
                let parts = line.split(separator: " ")
                #expect(parts.count == 2 && parts[1].allSatisfy { $0 == "x" }, "a line in pieces: \(line)")
                lines.append(try #require(Int(parts[0])))
            }
        }
        return (lines, notes)
    }

    private func line(_ number: Int) -> String { "\(number) " + String(repeating: "x", count: number % 70 + 1) + "\n" }

    @Test("all come, whole and in their order, where somebody reads")
    func prompt() async throws {
        let pipe = try LogPipe(.prompt)
        let writer = writer(pipe, room: 1 << 20)
        for number in 0..<20_000 { writer.write(line(number)) }
        #expect(writer.flush(within: .seconds(20)))
        try await eventually("they are read") { pipe.text.hasSuffix(line(19_999)) }
        let (lines, notes) = try numbers(pipe.text)
        #expect(lines == Array(0..<20_000) && notes.isEmpty && writer.dropped == 0)
        pipe.closeWriting()
    }

    @Test("of many callers come whole, those of each in their order")
    func callers() async throws {
        let pipe = try LogPipe(.prompt)
        let writer = writer(pipe, room: 1 << 20)
        await withTaskGroup { group in
            for caller in 0..<8 {
                group.addTask { for number in 0..<1000 { writer.write(line(caller * 1000 + number)) } }
            }
        }
        #expect(writer.flush(within: .seconds(20)))
        try await eventually("they are read") { pipe.text.split(separator: "\n").count == 8000 }
        let lines = try numbers(pipe.text).lines
        for caller in 0..<8 {
            #expect(lines.filter { $0 / 1000 == caller } == Array(caller * 1000..<(caller + 1) * 1000))
        }
        pipe.closeWriting()
    }

    @Test("make nobody wait where nobody reads; those beyond the room are counted, and a line says so once it goes on")
    func stuck() async throws {
        let pipe = try LogPipe(.stuck)
        let writer = writer(pipe)
        let start = ContinuousClock.now
        for number in 0..<10_000 { writer.write(line(number)) }
        #expect(ContinuousClock.now - start < .seconds(5))
        let dropped = writer.dropped
        #expect(dropped > 9000)
        #expect(!writer.flush(within: .milliseconds(50)))
        pipe.read()
        #expect(writer.flush(within: .seconds(20)))
        for number in 10_000..<10_100 { writer.write(line(number)) }
        #expect(writer.flush(within: .seconds(20)))
        try await eventually("it is read") { pipe.text.hasSuffix(line(10_099)) }
        let (lines, notes) = try numbers(pipe.text)
        // What was there first is kept, and what is missing is missing in one place.
        let kept = 10_000 - dropped
        #expect(lines == Array(0..<kept) + Array(10_000..<10_100))
        #expect(notes.map(\.count) == [dropped] && notes.map(\.after) == [kept - 1] && writer.dropped == dropped)
        pipe.closeWriting()
    }

    @Test("come in stretches where the reader is slow, and what is said to be missing is missing just there")
    func slow() async throws {
        let pipe = try LogPipe(.slow)
        let writer = writer(pipe)
        let start = ContinuousClock.now
        var number = 0
        while ContinuousClock.now - start < .seconds(4) {
            writer.write(line(number))
            number += 1
            usleep(200)
        }
        pipe.read()
        #expect(writer.flush(within: .seconds(20)))
        writer.write(line(number))
        #expect(writer.flush(within: .seconds(20)))
        let last = number
        try await eventually("it is read") { pipe.text.hasSuffix(line(last)) }
        let (lines, notes) = try numbers(pipe.text)
        #expect(lines == lines.sorted() && lines.count + writer.dropped == number + 1)
        #expect(notes.reduce(0) { $0 + $1.count } == writer.dropped && !notes.isEmpty && notes.count < 20)
        for note in notes {
            let next = try #require(lines.first { $0 > note.after })
            #expect(next - note.after - 1 == note.count)
        }
        pipe.closeWriting()
    }

    @Test("are counted and forgotten where nobody has the other end open any more, and end no process")
    func gone() async throws {
        let pipe = try LogPipe(.gone)
        let writer = writer(pipe)
        for number in 0..<500 { writer.write(line(number)) }
        #expect(writer.flush(within: .seconds(20)))
        try await eventually("all are counted") { writer.dropped == 500 }
        pipe.closeWriting()
    }

    @Test("go on once somebody opens the other end again, after a line that says how many are missing")
    func back() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "storehook-fifo-\(UUID().uuidString)").path
        guard mkfifo(path, 0o600) == 0 else { throw NeverHappened("a named pipe") }
        defer { unlink(path) }
        var reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let end = open(path, O_WRONLY | O_CLOEXEC)
        let writer = LineWriter(to: end, room: 100_000) { "dropped \($0)\n" }
        writer.write(line(0))
        #expect(writer.flush(within: .seconds(20)))
        var bytes = [UInt8](repeating: 0, count: 65_536)
        // What is in the pipe stays there while one end is open.
        #expect(read(reader, &bytes, bytes.count) == line(0).utf8.count)
        close(reader)
        for number in 1...100 { writer.write(line(number)) }
        #expect(writer.flush(within: .seconds(20)))
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        for number in 101...110 { writer.write(line(number)) }
        #expect(writer.flush(within: .seconds(20)))
        let count = read(reader, &bytes, bytes.count)
        let (lines, notes) = try numbers(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self))
        #expect(lines == Array(101...110) && notes.map(\.count) == [100] && writer.dropped == 100)
        close(reader)
        close(end)
    }

    @Test("are given up within the time that there is to write them, whoever else has the descriptor in another mode")
    func patience() throws {
        for nonblocking in [false, true] {
            let pipe = try LogPipe(.stuck)
            if nonblocking { _ = fcntl(pipe.writing, F_SETFL, fcntl(pipe.writing, F_GETFL) | O_NONBLOCK) }
            let writer = writer(pipe)
            writer.write(line(1))
            let start = ContinuousClock.now
            #expect(!writer.flush(within: .milliseconds(200)))
            #expect(ContinuousClock.now - start < .seconds(3) && writer.dropped == 0)
            pipe.read()
            #expect(writer.flush(within: .seconds(20)))
            pipe.closeWriting()
        }
    }
}
