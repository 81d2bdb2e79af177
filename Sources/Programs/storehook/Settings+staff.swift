import Base
import Configuration
import ConsolePages
import HTTPKit
import Staff

extension Settings {
    /// `STOREHOOK_FOUR_EYES`: the rules that the staff goes by.
    func staffRules() throws -> StaffRules {
        switch try text("storehook.four.eyes") ?? "no" {
        case "yes": StaffRules(isFourEyes: true)
        case "no": StaffRules()
        default: throw CommandFailure("STOREHOOK_FOUR_EYES: it is yes or no", status: .usage)
        }
    }

    /// `STOREHOOK_CONSOLE_AUTH`, `STOREHOOK_CONSOLE_GROUPS`: by which way people come in at the console's pages.
    func consoleWay() throws -> Visitors.Way {
        let groups = try list("storehook.console.groups")
        let text = try text("storehook.console.auth") ?? "login"
        guard text != "login" else {
            guard groups == nil else {
                throw CommandFailure(
                    "STOREHOOK_CONSOLE_GROUPS: it goes with STOREHOOK_CONSOLE_AUTH=proxy:, by which a proxy names groups",
                    status: .usage)
            }
            return .login
        }
        guard text.hasPrefix("proxy:") else {
            throw CommandFailure(
                "STOREHOOK_CONSOLE_AUTH: it is login, or proxy: and the addresses of the proxy, such as proxy:10.0.0.0/8",
                status: .usage)
        }
        let blocks = text.dropFirst("proxy:".count).split(separator: ",", omittingEmptySubsequences: false).map {
            AddressBlock(around: $0)
        }
        guard !blocks.contains(nil) else {
            throw CommandFailure(
                "STOREHOOK_CONSOLE_AUTH: after proxy: write addresses or blocks of them, comma-separated",
                status: .usage)
        }
        return .proxy(TrustedProxies(blocks.compactMap { $0 }), try consoleGroups(groups))
    }

    private func consoleGroups(_ entries: [String]?) throws -> StaffGroups {
        guard let entries else {
            throw missing(
                "STOREHOOK_CONSOLE_GROUPS is not set: what each group of your login may do, such as ops=admin,help=support:com.example.app"
            )
        }
        let groups: StaffGroups
        do throws(StaffGroups.Fault) {
            groups = try StaffGroups(entries)
        } catch {
            let which = error.place == 0 ? "it names no group" : "entry \(error.place) is not understood"
            throw CommandFailure(
                "STOREHOOK_CONSOLE_GROUPS: \(which); write a group, =, viewer, support or admin, and for some apps alone : and "
                    + "their bundle ids with | between them", status: .usage)
        }
        let served = Set(try apps().keys)
        guard served.isEmpty || groups.apps.isSubset(of: served) else {
            throw CommandFailure(
                "STOREHOOK_CONSOLE_GROUPS: an app is not among those of STOREHOOK_APPS", status: .usage)
        }
        return groups
    }

    /// `STOREHOOK_CONSOLE_PATH`: what stands before each path where a proxy serves others beside the console; empty for nothing.
    func consolePath() throws -> String {
        guard let text = try text("storehook.console.path") else { return "" }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.dropFirst().allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { Self.pathBytes.contains($0) }
        }
        guard parts.count > 1, parts[0].isEmpty, isPlain, text.utf8.count <= 100, parts[1] != "admin",
            text != "/healthz", !PageSite.hasPage(text)
        else {
            throw CommandFailure(
                "STOREHOOK_CONSOLE_PATH: it is a path like /desk, of letters, digits, - and _, and neither under /admin nor a page's",
                status: .usage)
        }
        return text
    }

    private static let pathBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
}
