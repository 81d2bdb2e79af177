import CLibPQ
import Glibc

// What libpq makes of connection strings. LibPQ.swift has the connections.

/// The parameters that libpq reads from a connection string; nil if it refuses it. Its reason may quote the password
/// and is dropped.
func libpqParameters(of connectionString: String) -> [String: String]? {
    var complaint: UnsafeMutablePointer<CChar>?
    let options = PQconninfoParse(connectionString, &complaint)
    defer {
        PQconninfoFree(options)
        PQfreemem(complaint)
    }
    return options.map { values(of: $0).mapValues(\.value) }
}

/// The parameters with what a service file and PG… variables add to them, as libpq itself adds it; `service` is gone then. Nil if libpq
/// cannot do it: there is no such service, or its file cannot be read.
///
/// libpq shows the parameters that it uses only once it has begun to connect. So this begins two attempts. Each has a value that libpq
/// refuses before it looks up a name or sends anything; the parameter with that value is read from the other attempt. Each also has a
/// password or a password file of its own, because libpq would print a warning about the rights of the user's file.
func libpqExpansion(of parameters: [String: String]) -> [String: String]? {
    guard let most = usedParameters(parameters, spoiling: "sslmode", instead: ["passfile": "/nonexistent/pgpass"]),
        let rest = usedParameters(parameters, spoiling: "channel_binding", instead: ["password": "none"])
    else { return nil }
    let used = most.merging(rest.filter { ["sslmode", "passfile"].contains($0.key) }, uniquingKeysWith: { $1 })
    let hasService = !(parameters["service"] ?? variable("PGSERVICE") ?? "").isEmpty
    var expanded = parameters
    expanded["service"] = nil
    for (keyword, option) in used where parameters[keyword] == nil && !option.value.isEmpty {
        // The others are libpq's defaults. Of target_session_attrs and some others the default stands for "not set".
        let isSet = option.variable.flatMap(variable) != nil || (hasService && option.value != option.usual)
        if isSet { expanded[keyword] = option.value }
    }
    return expanded
}

/// One of libpq's options: its value, the variable that it is read from, and libpq's default.
private struct LibPQOption {
    var value: String
    var variable: String?
    var usual: String?
}

/// The parameters of an attempt that fails at once, because one of them has a value that libpq does not know.
private func usedParameters(
    _ parameters: [String: String], spoiling keyword: String, instead others: [String: String]
) -> [String: LibPQOption]? {
    var spoilt = parameters.merging(others) { $1 }
    spoilt[keyword] = "none of libpq's"
    let pairs = Array(spoilt)
    let attempt = withCStrings(pairs.map(\.key)) { keywords in
        withCStrings(pairs.map(\.value)) { PQconnectStartParams(keywords, $0, 0) }
    }
    guard let attempt else { return nil }
    defer { PQfinish(attempt) }
    guard let options = PQconninfo(attempt) else { return nil }
    defer { PQconninfoFree(options) }
    let used = values(of: options)
    // Where libpq finds no such service, it shows none of the parameters.
    guard used[keyword]?.value == spoilt[keyword] else { return nil }
    return used
}

private func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: LibPQOption] {
    var option = options
    var values: [String: LibPQOption] = [:]
    while let keyword = option.pointee.keyword {
        if let value = option.pointee.val {
            values[String(cString: keyword)] = LibPQOption(
                value: String(cString: value), variable: option.pointee.envvar.map { String(cString: $0) },
                usual: option.pointee.compiled.map { String(cString: $0) })
        }
        option += 1
    }
    return values
}

private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// The strings as a null-terminated array of C strings, for the duration of the call.
func withCStrings<T>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T) -> T {
    let characters = strings.flatMap { Array($0.utf8CString) }
    return characters.withUnsafeBufferPointer { buffer in
        var pointers: [UnsafePointer<CChar>?] = []
        var offset = 0
        for string in strings {
            pointers.append(buffer.baseAddress.map { $0 + offset })
            offset += string.utf8CString.count
        }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
