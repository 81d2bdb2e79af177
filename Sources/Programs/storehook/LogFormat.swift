import Logging
import Synchronization

/// How the lines of a log are written (`STOREHOOK_LOG_FORMAT`).
enum LogFormat: String {
    /// For people.
    case text
    /// For machines, see ``JSONLogHandler``.
    case json

    /// A handler that writes whole lines, each at once.
    func handler(
        _ label: String, to stream: any TextOutputStream & Sendable = StandardErrorStream()
    ) -> any LogHandler {
        switch self {
        case .text: StreamLogHandler(label: label, stream: stream)
        case .json: JSONLogHandler(label: label, stream: stream)
        }
    }

    /// The line that stands where others are missing, with its line's end.
    func note(_ label: String, dropped: Int) -> String {
        let line = CapturedText()
        handler(label, to: line).log(
            event: LogEvent(
                level: .warning, message: "Lines are missing here: standard error was not read in time",
                metadata: ["lines": "\(dropped)"], source: "storehook", file: #fileID, function: #function, line: #line)
        )
        return line.text.withLock(\.self)
    }

    private final class CapturedText: TextOutputStream, Sendable {
        let text = Mutex("")
        func write(_ more: String) { text.withLock { $0 += more } }
    }
}
