import Foundation

/// Standard output, coloured in a terminal.
struct Screen: Sendable {
    /// What a piece of text is: the number of its colour in a terminal.
    enum Style: String {
        case plain = ""
        case title = "1"
        case dim = "2"
        case good = "32"
        case warning = "33"
        case bad = "31"
        case accent = "36"
    }

    let isColoured: Bool

    /// A piece of text in its colour.
    func paint(_ text: String, _ style: Style) -> String {
        isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Writes a line. It is out when this returns, so that a script that ends the app has seen what was done before.
    func line(_ text: String = "", _ style: Style = .plain) {
        FileHandle.standardOutput.write(Data((paint(text, style) + "\n").utf8))
    }

    /// Writes a name and its value.
    func pair(_ name: String, _ value: String, _ style: Style = .plain) {
        line("\(paint("\(name):", .dim)) \(paint(value, style))")
    }

    /// A bar of what is used: 0 to 1.
    func bar(_ share: Double) -> String {
        let width = 20
        let filled = Int((max(0, min(1, share)) * Double(width)).rounded())
        let style: Style = share >= 1 ? .bad : share >= 0.8 ? .warning : .good
        return paint(String(repeating: "█", count: filled), style)
            + paint(String(repeating: "░", count: width - filled), .dim)
    }

    /// Writes a line to standard error.
    func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    /// How many columns a text takes: two for each Chinese character.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ((0x2E80...0xFFEF).contains($1.value) ? 2 : 1) }
    }

    /// A text with spaces behind it.
    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - Self.width(text)))
    }
}
