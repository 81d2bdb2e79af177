import Base
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Writes the date of the stand-in's own clock into answers, where that clock is put off on purpose.
final class AnswerDate: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let clock: AnswerClock

    init(_ clock: AnswerClock) { self.clock = clock }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let ahead = clock.secondsAhead
        guard ahead != 0, case .head(var head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        head.headerFields[.date] = Self.text(Date(timeIntervalSinceNow: TimeInterval(ahead)))
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
