#include "embedded.h"

// What the pages of the console are made of. The compiler copies the files, as it does those of the migrations.
static const struct storehook_file pages[] = {
    {"cell.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/cell.mustache" suffix(, 0)
    }},
    {"code.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/code.mustache" suffix(, 0)
    }},
    {"facts.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/facts.mustache" suffix(, 0)
    }},
    {"form.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/form.mustache" suffix(, 0)
    }},
    {"json.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/json.mustache" suffix(, 0)
    }},
    {"json_node.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/json_node.mustache" suffix(, 0)
    }},
    {"layout.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/layout.mustache" suffix(, 0)
    }},
    {"links.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/links.mustache" suffix(, 0)
    }},
    {"note.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/note.mustache" suffix(, 0)
    }},
    {"plot.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/plot.mustache" suffix(, 0)
    }},
    {"table.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/table.mustache" suffix(, 0)
    }},
    {"text.mustache", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/text.mustache" suffix(, 0)
    }},
    {"console.css", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/console.css" suffix(, 0)
    }},
    {"console.js", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/console.js" suffix(, 0)
    }},
    {"icon.svg", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/icon.svg" suffix(, 0)
    }},
    {"words-desk.txt", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/words-desk.txt" suffix(, 0)
    }},
    {"words-figures.txt", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/words-figures.txt" suffix(, 0)
    }},
    {"words-service.txt", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/words-service.txt" suffix(, 0)
    }},
    {"words-staff.txt", (const unsigned char[]){
#embed "../../Services/ConsolePages/Served/words-staff.txt" suffix(, 0)
    }},
};

int storehook_page_file_count(void) { return sizeof pages / sizeof pages[0]; }

const struct storehook_file *_Nonnull storehook_page_file_at(int place) { return &pages[place]; }
