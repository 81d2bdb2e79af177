import CEmbedded
import Mustache

/// The files that are embedded into the program: templates, words, and what browsers fetch beside the pages.
struct Templates: Sendable {
    /// All files, by name.
    let files: [String: String]
    private let library: MustacheLibrary

    /// A template that is none.
    struct Fault: Error, Sendable, CustomStringConvertible {
        /// Its file.
        let file: String
        /// What is wrong.
        let why: String

        /// One line.
        var description: String { "\(file): \(why)" }
    }

    /// Those of the program.
    static var embedded: [String: String] {
        Dictionary(
            (0..<storehook_page_file_count()).map { place in
                let file = storehook_page_file_at(place).pointee
                return (String(cString: file.name), String(cString: file.text))
            }
        ) { first, _ in first }
    }

    /// Reads all templates.
    init(_ files: [String: String] = Templates.embedded) throws(Fault) {
        self.files = files
        MustacheContentTypes.register(StrictHTML(), named: StrictHTML.name)
        var library = MustacheLibrary()
        for (file, text) in files {
            guard file.hasSuffix(Self.ending) else { continue }
            // Each by itself: a template within another one begins with the library's own way to escape.
            let whole = "{{%CONTENT_TYPE:\(StrictHTML.name)}}" + text.trimmingSuffix(while: { $0 == "\n" })
            do {
                try library.register(whole, named: String(file.dropLast(Self.ending.count)))
            } catch {
                throw Fault(file: file, why: "\(error)")
            }
        }
        self.library = library
    }

    /// A page.
    func page(_ members: [String: PageValue]) -> [UInt8] {
        Array((library.render(PageValue.members(members).filling, withTemplate: "layout") ?? "").utf8)
    }

    private static let ending = ".mustache"
}

extension String {
    /// Without what stands at the end.
    fileprivate func trimmingSuffix(while isPart: (Character) -> Bool) -> Substring {
        var text = self[...]
        while let last = text.last, isPart(last) { text.removeLast() }
        return text
    }
}
