extension Document {
    /// A command, as a document names it.
    struct Command: Sendable, Hashable {
        /// `storehook`, `storehook-bench`, or a script by its path, like `deploy/run`.
        var program: String
        /// What stands between the program's name and its first option, and might be a subcommand.
        var words: [String]
        /// With their hyphens.
        var options: [String]
    }

    /// The commands in what is to be typed, and those between backticks.
    var commands: [Command] {
        let typed = blocks.filter { $0.language == "sh" }.flatMap(\.lines)
        // The runbook's are indented.
        let indented = prose.filter { $0.hasPrefix("    ") }
        return (typed + indented + spans).flatMap { Self.commands(of: $0) }
    }

    /// The options between backticks that stand there without a command.
    var looseOptions: [String] {
        spans.filter { $0.hasPrefix("--") }.flatMap { Self.options(in: $0) }
    }

    /// The commands of a line. What a comment behind them names is the last one's.
    private static func commands(of line: String) -> [Command] {
        let parts = line.split(separator: " #", maxSplits: 1).map(String.init)
        guard let typed = parts.first, !typed.hasPrefix("#") else { return [] }
        var commands = typed.split { "|;&()`\"".contains($0) }.compactMap { command(String($0)) }
        if parts.count > 1, !commands.isEmpty { commands[commands.count - 1].options += options(in: parts[1]) }
        return commands
    }

    private static func command(_ text: String) -> Command? {
        var words = text.split(separator: " ").map(String.init)[...]
        // What is set for the command alone.
        words = words.drop { $0.contains(/^[A-Za-z_]+=/) }
        guard var program = words.popFirst() else { return nil }
        switch program {
        case "storehook", "storehook-bench": break
        // It runs the program; these two are its own.
        case "storehook-ops":
            program = "storehook"
            words = words.drop { $0 == "--owner" || $0 == "--previous" }
        default:
            // What the package unpacks to.
            if program.hasPrefix("storehook/deploy/") { program.removeFirst("storehook/".count) }
            guard program.wholeMatch(of: /(?:deploy|\.ci)\/[a-z-]+/) != nil else { return nil }
        }
        let named = words.prefix { $0.wholeMatch(of: /[a-z][a-z-]*/) != nil }
        return Command(program: program, words: Array(named), options: options(in: words.joined(separator: " ")))
    }

    private static func options(in text: String) -> [String] {
        text.matches(of: /(?:^|[\s\[\/])(--[a-z][a-z-]*)/).map { String($0.output.1) }
    }
}
