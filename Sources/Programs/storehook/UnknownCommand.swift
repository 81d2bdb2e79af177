import ArgumentParser

/// A word that stands where a command's name has to.
struct UnknownCommand {
    /// The commands before it: `storehook dead-letters`.
    private let path: String
    private let word: String
    private let nearest: String?
    /// Whether a command may be meant that needs no name (`storehook account ID`).
    private let mayBeArgument: Bool

    /// Looks for one in a command line that was refused; nil where each word is in its place.
    init?(_ arguments: some Collection<String>, of root: any ParsableCommand.Type = Storehook.self) {
        var (command, path) = (root, root._commandName)
        for word in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
            if let next = subcommands.first(where: { $0._commandName == word }) {
                (command, path) = (next, "\(path) \(word)")
                continue
            }
            guard word != "help" else { return nil }
            self.path = path
            self.word = word.count > 40 ? "\(word.prefix(40))…" : word
            nearest = Spelling.nearest(to: word, among: subcommands.map { $0._commandName })
            mayBeArgument = command.configuration.defaultSubcommand != nil
            if mayBeArgument, nearest == nil { return nil }
            return
        }
        return nil
    }

    /// One line: what is wrong, and what to type.
    var text: String {
        let guess = nearest.map { "did you mean \(path) \($0)? " } ?? ""
        guard !mayBeArgument else { return "\(word) is no command of \(path): \(guess)\(path) --help lists them" }
        return "there is no command \(path) \(word): \(guess)\(path) --help lists the commands"
    }
}
