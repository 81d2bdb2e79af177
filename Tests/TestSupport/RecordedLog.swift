public import Logging
import Synchronization

/// Keeps the lines of a logger, each as its message and what belongs to it.
public final class RecordedLog: Sendable {
    /// One of them.
    public struct Line: Sendable {
        /// How grave it is.
        public var level: Logger.Level
        /// What it says.
        public var message: String
        /// What belongs to it.
        public var metadata: [String: String]
    }

    private let kept = Mutex<[Line]>([])

    /// Keeps nothing yet.
    public init() {}

    /// All of them, in order.
    public var lines: [Line] { kept.withLock { $0 } }
    /// All of it as one text.
    public var text: String { lines.map { "\($0.level) \($0.message) \($0.metadata)" }.joined(separator: "\n") }

    /// The lines with a message.
    public func lines(_ message: String) -> [Line] { lines.filter { $0.message == message } }

    /// Whose lines are kept.
    public var logger: Logger {
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
