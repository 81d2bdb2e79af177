public import Foundation

/// The package's directory. `deploy/test` names it, since it compiles a copy.
public let packageRoot =
    ProcessInfo.processInfo.environment["STOREHOOK_TEST_PACKAGE"].map { URL(filePath: $0, directoryHint: .isDirectory) }
    ?? URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
