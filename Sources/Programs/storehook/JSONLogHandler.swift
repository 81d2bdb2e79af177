import AppStorePayloads
import Base
import Foundation
import Logging
import Operations

/// One JSON object a line, for machines: `time`, `level`, `label`, `message`, and the metadata beside
/// them.
struct JSONLogHandler: LogHandler {
    let label: String
    private let stream: any TextOutputStream & Sendable
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, stream: any TextOutputStream & Sendable) {
        self.label = label
        self.stream = stream
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        fields.merge(metadataProvider?.get() ?? [:]) { _, new in new }
        fields.merge(event.metadata ?? [:]) { _, new in new }
        var line: [String: String] = fields.mapValues(\.description)
        line["time"] = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000)).description
        line["level"] = event.level.rawValue
        line["label"] = label
        line["message"] = event.message.description
        var stream = stream
        stream.write(JSONValue.object(line.map { .init($0, .string($1)) }).sorted.text + "\n")
    }
}
