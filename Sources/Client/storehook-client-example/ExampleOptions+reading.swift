import Foundation

extension ExampleOptions {
    private static let names = [
        "api", "stand-in", "token", "token-command", "account", "customer", "environment", "folder", "grace",
        "clock-ahead", "language", "color", "log",
    ]

    /// Reads arguments and environment.
    /// - Throws: ``UsageError``.
    init(arguments: [String], environment: [String: String], isTerminal: Bool) throws {
        var values: [String: String] = [:]
        for name in Self.names {
            let variable = "CLIENT_EXAMPLE_" + name.uppercased().replacingOccurrences(of: "-", with: "_")
            values[name] = environment[variable]
        }
        var rest = arguments[...]
        while let word = rest.first, word.hasPrefix("-") {
            rest.removeFirst()
            if word == "--help" || word == "-h" {
                wantsHelp = true
                return
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            guard word.hasPrefix("--"), Self.names.contains(name) else {
                throw UsageError(description: "there is no option \(word); --help lists them")
            }
            if parts.count == 2 {
                values[name] = String(parts[1])
            } else {
                guard let value = rest.popFirst() else { throw UsageError(description: "\(word) needs a value") }
                values[name] = value
            }
        }
        try take(values, environment, isTerminal: isTerminal)
        commands = try ExampleCommand.list(Array(rest))
    }

    private mutating func take(
        _ values: [String: String], _ environment: [String: String], isTerminal: Bool
    ) throws {
        func seconds(_ name: String) throws -> TimeInterval? {
            guard let text = values[name] else { return nil }
            guard let value = TimeInterval(text), value.isFinite else {
                throw UsageError(description: "--\(name) is a number of seconds")
            }
            return value
        }
        func choice(_ name: String, _ words: [String]) throws -> String {
            guard let text = values[name] else { return words[0] }
            guard words.contains(text) else {
                throw UsageError(description: "--\(name) is one of: \(words.joined(separator: ", "))")
            }
            return text
        }
        api = try Self.url(values["api"] ?? "http://127.0.0.1:8081", "api")
        standIn = try Self.url(values["stand-in"] ?? "http://127.0.0.1:8090", "stand-in")
        token = values["token"]
        tokenCommand = values["token-command"]
        account = values["account"] ?? account
        customer = values["customer"] ?? account
        self.environment = try choice("environment", ["Production", "Sandbox"])
        folder = values["folder"] ?? folder
        grace = max(0, try seconds("grace") ?? grace)
        clockAhead = try seconds("clock-ahead") ?? clockAhead
        let system = environment["LANG"].map {
            String($0.prefix { $0 != "." }).replacingOccurrences(of: "_", with: "-")
        }
        languages = [values["language"] ?? system ?? "en"]
        switch try choice("color", ["auto", "always", "never"]) {
        case "always": isColoured = true
        case "never": isColoured = false
        default: isColoured = isTerminal && environment["NO_COLOR"] == nil
        }
        writesLog = try choice("log", ["no", "yes"]) == "yes"
        guard token != nil || tokenCommand != nil else {
            throw UsageError(
                description: "no token: name one with --token, such as that of storehook demo token \(account)")
        }
    }

    private static func url(_ text: String, _ name: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme) else {
            throw UsageError(description: "--\(name) is an http or https URL")
        }
        return url
    }
}
