public import Logging

/// Nothing that a test provokes on purpose is worth a line.
public let quiet: Logger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
}()
