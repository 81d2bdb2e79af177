import Logging
import Synchronization

/// Keeps the lines of a logger, each as its message and what belongs to it.
final class RecordedLog: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: [String: String]
    }

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { kept.withLock { $0 } }
    /// All of it as one text.
    var text: String { lines.map { "\($0.level) \($0.message) \($0.metadata)" }.joined(separator: "\n") }

    /// The lines with a message.
    func lines(_ message: String) -> [Line] { lines.filter { $0.message == message } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = .debug
        return logger
    }

    private struct Handler: LogHandler {
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]
        let log: RecordedLog

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            let line = Line(level: event.level, message: "\(event.message)", metadata: metadata)
            log.kept.withLock { $0.append(line) }
        }
    }
}
