import APIKit
import HTTPTypes

/// A page, or what a form of a page is sent to.
struct Page: Sendable {
    /// Who may ask.
    enum Access: Sendable, Hashable {
        /// Anybody, also who is not logged in.
        case anyone
        /// Members of the staff. What each may do is decided where it is done.
        case staff
    }

    /// GET answers HEAD as well.
    var method: HTTPRequest.Method
    /// Such as `/orders/{number}`, without what stands before it behind a proxy.
    var path: String
    /// A name of its own, for metrics and logs.
    var name: String
    /// Who may ask.
    var access = Access.staff
    /// Where it stands in the navigation; nil for nowhere.
    var section: Section?
    /// The most bytes of a form that are read.
    var mostBytes = Page.usualForm
    /// Makes it; throws ``APIKit/APIProblem``.
    var answer: @Sendable (PageCall) async throws -> PageOutcome

    /// The bytes of a form without a file, and of one with a file: what it holds grows by the way in which browsers write it.
    static let usualForm = 64 << 10
    static let longForm = 1 << 20

    /// A page to look at.
    static func get(
        _ path: String, _ name: String, in section: Section?,
        _ answer: @escaping @Sendable (PageCall) async throws -> PageOutcome
    ) -> Page {
        Page(method: .get, path: path, name: name, section: section, answer: answer)
    }

    /// What a form is sent to.
    static func post(
        _ path: String, _ name: String, in section: Section?,
        _ answer: @escaping @Sendable (PageCall) async throws -> PageOutcome
    ) -> Page {
        Page(method: .post, path: path, name: name, section: section, answer: answer)
    }

    /// The same for forms with a file.
    func takingFiles() -> Page {
        var page = self
        page.mostBytes = Self.longForm
        return page
    }

    /// The same for anybody.
    func forAnyone() -> Page {
        var page = self
        page.access = .anyone
        return page
    }
}

/// The parts of the console, in the order of the navigation.
enum Section: String, Sendable, CaseIterable {
    case overview, orders, refunds, customers, figures, service, audit, staff

    /// Where it begins.
    var place: Place {
        switch self {
        case .overview: Place()
        case .orders: Place("orders")
        case .refunds: Place("refund-requests")
        case .customers: Place("customers")
        case .figures: Place("figures")
        case .service: Place("dead-letters")
        case .audit: Place("audit")
        case .staff: Place("staff")
        }
    }
}

/// What a page comes to.
enum PageOutcome: Sendable {
    /// A page.
    case page(PageContent)
    /// Another place, to which the browser goes by GET; with cookies.
    case redirect(Place, cookies: [String] = [])
    /// A path that was asked for before the login; with cookies.
    case path(String, cookies: [String])
    /// An answer of the admin API as it is: a file.
    case file(APIAnswer)
}

/// What stands on a page.
struct PageContent: Sendable {
    /// The status of the answer.
    var status = HTTPResponse.Status.ok
    /// The heading, in words.
    var title: String
    /// The parts.
    var blocks: [Block]
    /// The commands that give the same.
    var commands: [String] = []
    /// Cookies that go with it.
    var cookies: [String] = []
    /// Whether the browser asks again at once: now by a page of ours, and so with its cookies.
    var refreshes = false

    /// A page.
    init(_ title: String, _ blocks: [Block], commands: [String] = []) {
        self.title = title
        self.blocks = blocks
        self.commands = commands
    }
}
