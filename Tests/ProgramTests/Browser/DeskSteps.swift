import Foundation
import TestSupport
import Testing

/// Where things stand on the desk's pages, as XPath.
enum Spot {
    /// What stands under a label; of several the first.
    static func fact(_ label: String) -> String {
        "(//dt[normalize-space()='\(label)']/following-sibling::dd)[1]"
    }

    static func table(_ caption: String) -> String { "//table[normalize-space(caption)='\(caption)']" }

    /// The button of a form that does something.
    static func button(of what: String) -> String {
        "//form[.//input[@name='what' and @value='\(what)']]//button[@type='submit']"
    }

    /// A field of a form that does something.
    static func field(_ name: String, of what: String) -> String {
        "//form[.//input[@name='what' and @value='\(what)']]//*[@name='\(name)']"
    }

    /// A field of the page's own forms, by its label.
    static func field(_ label: String) -> String {
        "//main//*[@id=//label[normalize-space()='\(label)']/@for]"
    }

    /// The button of the form that has a field of this label.
    static func button(beside label: String) -> String {
        "//main//form[.//label[normalize-space()='\(label)']]//button[@type='submit']"
    }

    /// A link to another page, by its words.
    static func link(_ text: String) -> String { "//a[normalize-space()='\(text)']" }
}

extension WebBrowser {
    /// Types into the box at the top of every page, and waits until the page stands that it leads to.
    func search(_ text: String, leadingTo path: String) async throws {
        try await type(text, into: "#search")
        try await press("form.search button")
        try await eventually("the page is there") { try await self.path == path }
    }

    /// Waits until the page says something: a click may end before the next page is there.
    func says(_ text: String) async throws {
        try await eventually("the page says: \(text)") { try await self.text(of: "main").contains(text) }
    }

    func fact(_ label: String) async throws -> String { try await text(of: Spot.fact(label)) }

    /// Loads the page again and again until it says something.
    func reload(_ what: String, until text: String, in selector: String) async throws {
        let place = try await place
        try await eventually(what) {
            try await open(place)
            guard try await count(selector) > 0 else { return false }
            return try await self.text(of: selector).contains(text)
        }
    }
}
