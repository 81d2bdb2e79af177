import Foundation

/// Messages beside the figures.
enum StandardError {
    static func line(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8)) }
}
