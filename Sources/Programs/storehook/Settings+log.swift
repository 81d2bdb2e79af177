import Configuration
import Logging

extension Settings {
    /// A logger by `STOREHOOK_LOG_LEVEL` and `STOREHOOK_LOG_FORMAT`; it writes to standard error.
    func logger(_ label: String) throws -> Logger {
        let level = try text("storehook.log.level") ?? "info"
        guard let level = Logger.Level(rawValue: level) else {
            throw CommandFailure(
                "STOREHOOK_LOG_LEVEL must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))",
                status: .usage)
        }
        let format = try logFormat()
        var logger = Logger(label: label) { format.handler($0) }
        logger.logLevel = level
        return logger
    }

    private func logFormat() throws -> LogFormat {
        guard let text = try text("storehook.log.format") else { return StandardError.isTerminal ? .text : .json }
        guard let format = LogFormat(rawValue: text) else {
            throw CommandFailure("STOREHOOK_LOG_FORMAT must be text or json", status: .usage)
        }
        return format
    }

    /// A logger for a long-running program: its first line names the storehook release, and from now on nothing that the program
    /// writes to standard error makes it wait. What is set and is no setting, it names.
    func programLogger(_ label: String) throws -> Logger {
        var logger = try logger(label)
        let format = try logFormat()
        StandardError.becomeOfService { format.note(label, dropped: $0) }
        logger.handler = ReleaseLine(logger.handler)
        if !unknown.isEmpty {
            logger.warning(
                "Names are set that are no settings; see the chapter Configuration, or unset them",
                metadata: ["names": "\(unknown.prefix(10).map(\.description).joined(separator: "; "))"])
        }
        return logger
    }
}
