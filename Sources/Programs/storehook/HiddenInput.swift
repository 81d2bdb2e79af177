import Glibc

/// Reads a line that is not shown while it is typed.
enum HiddenInput {
    /// Whether a person types.
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The longest line that is taken, in bytes.
    private static let most = 4096

    /// Asks for a line on a terminal, whose settings are as before afterwards, also where the person gives up.
    /// - Throws: `CommandFailure` where nothing is typed: at Ctrl-C and Ctrl-D, and where the terminal is gone.
    static func ask(_ prompt: String) throws -> String {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { throw CommandFailure("the terminal cannot be read") }
        // Neither echo nor signals: a signal would end the process, and leave the terminal without its echo.
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG | ICANON)
        StandardError.write(prompt)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else {
            throw CommandFailure("the terminal cannot be kept from showing what is typed")
        }
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            StandardError.write("\n")
        }
        return try text(of: line())
    }

    /// The first line of standard input, where that is no terminal.
    /// - Throws: `CommandFailure` where there is none.
    static func firstLine() throws -> String {
        var bytes: [UInt8] = []
        while let byte = next(), byte != UInt8(ascii: "\n") {
            bytes.append(byte)
            guard bytes.count <= most else { throw CommandFailure("the first line of standard input is too long") }
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return try text(of: bytes)
    }

    /// What is typed up to the line's end; backspace takes the last character back.
    private static func line() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return bytes
            // Ctrl-C, Ctrl-D, Ctrl-backslash.
            case 3, 4, 28: throw CommandFailure("given up; nothing is changed")
            case 8, 127:
                // A character may have several bytes: all but the first begin with the bits 10.
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            // Ctrl-U.
            case 21: bytes = []
            default: if bytes.count < most { bytes.append(byte) }
            }
        }
        throw CommandFailure("the terminal is gone; nothing is changed")
    }

    private static func next() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 1 { return byte }
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }

    private static func text(of bytes: [UInt8]) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
            throw CommandFailure("nothing was typed, or no text in UTF-8; nothing is changed")
        }
        return text
    }
}
