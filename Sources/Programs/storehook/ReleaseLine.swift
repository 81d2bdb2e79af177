import Base
import Logging
import Synchronization

/// Begins a program's log with a line that names the storehook release.
///
/// The line is written with the first message, not before: a program that cannot start writes one line, its reason.
struct ReleaseLine: LogHandler {
    private var inner: any LogHandler
    private let isWritten = Written()

    private final class Written: Sendable {
        let flag = Atomic(false)
    }

    /// A handler that hands on to another one.
    init(_ inner: any LogHandler) { self.inner = inner }

    var logLevel: Logger.Level {
        get { inner.logLevel }
        set { inner.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { inner.metadataProvider }
        set { inner.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        if logLevel <= .info, !isWritten.flag.exchange(true, ordering: .relaxed) {
            inner.log(
                event: LogEvent(
                    level: .info, message: "Starting",
                    metadata: ["version": "\(Release.version)", "commit": "\(Release.commit)"],
                    source: event.source, file: event.file, function: event.function, line: event.line))
        }
        inner.log(event: event)
    }
}
