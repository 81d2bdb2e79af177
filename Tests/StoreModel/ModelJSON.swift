/// A flat JSON object, written field by field in the order of the calls; absent values leave no field.
struct ModelJSON {
    private var fields: [String] = []

    /// Adds a text. The model writes nothing outside ASCII, so quotes and backslashes are all there is to escape.
    mutating func add(_ key: String, _ value: String?) {
        guard let value else { return }
        var quoted = ""
        for character in value {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        fields.append("\"\(key)\":\"\(quoted)\"")
    }

    /// Adds a whole number.
    mutating func add(_ key: String, _ value: Int64?) {
        guard let value else { return }
        fields.append("\"\(key)\":\(value)")
    }

    /// Adds a truth value.
    mutating func add(_ key: String, _ value: Bool?) {
        guard let value else { return }
        fields.append("\"\(key)\":\(value)")
    }

    /// The object's text in UTF-8.
    var bytes: [UInt8] {
        Array("{\(fields.joined(separator: ","))}".utf8)
    }
}
