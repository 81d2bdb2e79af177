import NIOCore
import Testing

@testable import HTTPKit

@Suite("The progress of a request")
struct RequestProgressTests {
    private func slice(_ progress: RequestProgress, _ text: String) -> Int {
        progress.slice(of: ByteBuffer(string: text).readableBytesView)
    }

    @Test("cuts what has come where a head ends and where a body ends")
    func slices() {
        var progress = RequestProgress(mostFraming: 4096)
        let head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        #expect(slice(progress, head + "body") == head.utf8.count)
        #expect(slice(progress, "GET / HTTP") == 10)
        progress.receive(head.utf8.count)
        progress.readHead(contentLength: 4, isChunked: false)
        #expect(slice(progress, "body" + head) == 4)
        progress.receive(4)
        progress.readBody(4)
        #expect(!progress.isTooLong && progress.isArriving && progress.isInBody)
        progress.readEnd()
        #expect(!progress.isArriving && !progress.isInBody)
        #expect(slice(progress, head) == head.utf8.count)
    }

    @Test("ends with a head that gets too long, to the byte")
    func head() {
        var progress = RequestProgress(mostFraming: 100)
        let line = String(repeating: "x", count: 300)
        #expect(slice(progress, line) == 100)
        progress.receive(99)
        #expect(!progress.isTooLong)
        #expect(slice(progress, line) == 1)
        progress.receive(1)
        #expect(progress.isTooLong)
    }

    @Test("ends with chunks that are mostly framing, and not with those that are not")
    func chunks() {
        var progress = RequestProgress(mostFraming: 100)
        progress.receive(50)
        progress.readHead(contentLength: nil, isChunked: true)
        for _ in 0..<16 {
            progress.receive(1030)
            progress.readBody(1024)
            #expect(!progress.isTooLong)
        }
        progress.receive(6)
        #expect(progress.isTooLong)
    }
}
