import Base

/// A form. What it sends is checked again where it arrives.
struct PageForm: Sendable {
    /// A field.
    struct Field: Sendable {
        /// What may be filled in.
        enum Kind: Sendable, Hashable {
            /// A line of text, of at most so many characters.
            case line(most: Int)
            /// Text of several lines.
            case area
            /// A file for machines, which may be long.
            case file
            /// A password; what browsers fill in for it.
            case password(fills: String)
            /// An e-mail address.
            case mail
            /// A whole number in a range.
            case number(ClosedRange<Int64>)
            /// An amount of money.
            case money
            /// A day.
            case day
            /// An instant on the reader's clock.
            case time
            /// Yes or not.
            case check
            /// One of some values, each with its words.
            case choice([Choice])
        }

        /// One of some values.
        struct Choice: Sendable, Hashable {
            /// What is sent.
            var value: String
            /// What it is called.
            var label: String

            /// A choice.
            init(_ value: String, _ label: String) {
                self.value = value
                self.label = label
            }

            fileprivate func filled(isSelected: Bool) -> PageValue {
                .members(["value": .text(value), "label": .text(label), "isSelected": .flag(isSelected)])
            }
        }

        /// What it is sent as.
        var name: String
        /// What it is called, in words.
        var label: String
        /// What may be filled in.
        var kind: Kind
        /// What is filled in already.
        var value = ""
        /// Whether something has to be.
        var isRequired = false
        /// A sentence about it.
        var hint: String?

        /// A field.
        init(
            _ name: String, _ label: String, _ kind: Kind, _ value: String? = nil, isRequired: Bool = false,
            hint: String? = nil
        ) {
            self.name = name
            self.label = label
            self.kind = kind
            self.value = value ?? ""
            self.isRequired = isRequired
            self.hint = hint
        }

        /// One of some values, which have words of their own; with any of them as another choice where nothing has to be chosen.
        /// - Parameter kind: what the words are of.
        static func states(
            _ name: String, _ label: String, _ kind: String, _ values: [String], _ value: String?, _ speaker: Speaker,
            isRequired: Bool = false
        ) -> Field {
            var choices = values.map { Choice($0, speaker.word(of: kind, $0)) }
            if !isRequired { choices.insert(Choice("", speaker.word("any")), at: 0) }
            return Field(name, label, .choice(choices), value)
        }

        /// A line of text.
        static func line(_ name: String, _ label: String, _ value: String?, most: Int = 255) -> Field {
            Field(name, label, .line(most: most), value)
        }

        fileprivate func filled(_ form: String) -> PageValue {
            let id = "\(form)-\(name)"
            var members: [String: PageValue] = [
                "id": .text(id), "name": .text(name), "label": .text(label), "value": .text(value),
                // A choice has something chosen from the start, and HTML takes none as required whose first value is not empty.
                "isRequired": .flag(isRequired && !kind.isChoice), "isInput": .flag(!kind.isChoice && !kind.isArea),
                "isArea": .flag(kind.isArea), "isChoice": .flag(kind.isChoice), "type": .text(kind.type),
            ]
            if let hint { members.merge(["hasHint": .flag(true), "hint": .text(hint)]) { _, own in own } }
            switch kind {
            case .line(let most): members["longest"] = .text("\(most)")
            case .password(let fills):
                members["fills"] = .text(fills)
                // A password that was typed is never written back.
                members["value"] = .text("")
            case .mail:
                members["longest"] = .text("254")
                members["fills"] = .text("username")
            case .number(let range):
                members["least"] = .text("\(range.lowerBound)")
                members["most"] = .text("\(range.upperBound)")
            case .check:
                members["isChecked"] = .flag(value == "yes")
                members["value"] = .text("yes")
            case .time: members["step"] = .text("60")
            case .choice(let choices):
                members["choices"] = .list(choices.map { $0.filled(isSelected: $0.value == value) })
            case .area: members.merge(["longest": "1000", "rows": "3"]) { _, own in own }
            case .file: members.merge(["longest": .text("\(Page.longForm / 2)"), "rows": "20"]) { _, own in own }
            case .money, .day: break
            }
            return .members(members)
        }
    }

    /// What it is for, in words; nil where the page says it.
    var title: String?
    /// A sentence about it.
    var about: String?
    /// Where it is sent.
    var action: Place
    /// Whether it changes something, or carries what must not stand in a URL.
    var isPost: Bool
    /// Its fields.
    var fields: [Field]
    /// What is sent beside.
    var hidden: [String: String]
    /// What the button says.
    var submit: String
    /// Whether what it does is not undone easily.
    var isDangerous = false
    /// Where to go instead.
    var cancel: Place?
    /// How it stands: `act`, `filter`, `login`.
    var style: String

    /// A form that narrows a list down, with its state in the URL.
    static func filter(_ action: Place, _ fields: [Field], _ submit: String) -> PageForm {
        // Values of the place's query would be lost: browsers write the fields in their stead.
        PageForm(
            action: Place(parts: action.parts), isPost: false, fields: fields, hidden: action.query, submit: submit,
            style: "filter")
    }

    /// A form that does something.
    static func act(
        _ title: String?, _ action: Place, _ fields: [Field], _ submit: String, about: String? = nil,
        hidden: [String: String] = [:], isDangerous: Bool = false, cancel: Place? = nil
    ) -> PageForm {
        PageForm(
            title: title, about: about, action: action, isPost: true, fields: fields, hidden: hidden, submit: submit,
            isDangerous: isDangerous, cancel: cancel, style: "act")
    }

    func members(_ speaker: Speaker, id: String) -> [String: PageValue?] {
        var hidden = hidden
        if !isPost {
            if speaker.environment != Environment.production.rawValue { hidden["environment"] = speaker.environment }
            // What the form itself asks for is not sent beside it: the first value of a name counts.
            if let instant = speaker.instant, !fields.contains(where: { $0.name == "at" }) {
                hidden["at"] = instant.description
            }
        }
        return [
            "title": .optional(title), "about": .optional(about), "style": .text(style),
            "method": .text(isPost ? "post" : "get"), "isPost": .flag(isPost),
            "action": .text(isPost ? speaker.link(action) : speaker.prefix + action.path),
            "fields": .list(fields.map { $0.filled(id) }),
            "hidden": .list(
                hidden.sorted { $0.key < $1.key }.map {
                    .members(["name": .text($0.key), "value": .text($0.value)])
                }),
            "submit": .text(submit), "isDangerous": .flag(isDangerous),
            "cancel": .optional(cancel.map { speaker.link($0) }),
        ]
    }
}

extension PageForm.Field.Kind {
    /// Whether it is a text of several lines.
    fileprivate var isArea: Bool { self == .area || self == .file }

    fileprivate var isChoice: Bool { if case .choice = self { true } else { false } }

    /// The type of the input.
    fileprivate var type: String {
        switch self {
        case .line, .area, .file, .choice: "text"
        case .money: "text"
        case .password: "password"
        case .mail: "email"
        case .number: "number"
        case .day: "date"
        case .time: "datetime-local"
        case .check: "checkbox"
        }
    }
}
